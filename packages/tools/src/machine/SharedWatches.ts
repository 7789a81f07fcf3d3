/**
 * One watch of the system per directory, however many watch it: each of them would be notified of every change by the system
 * and look up what has changed. Ends with the last that shares it.
 *
 *     directory ──> changes in batches ──┬──> what this one has not read yet ──> its reader
 *                                        └──> ...
 */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { PlatformError } from "effect/PlatformError"
import * as Queue from "effect/Queue"
import * as RcMap from "effect/RcMap"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { directoryChanges, type WatchParts } from "./DirectoryWatch.ts"

/** Changes that follow each other within this time are one batch, of at most this number. */
const batchTime = Duration.millis(50)
const maxBatch = 1000

type Batch = ReadonlyArray<string>

/** The watch of a directory. */
interface SharedWatch {
  /** Completed when the directory is watched; fails when it cannot be. */
  readonly ready: Deferred.Deferred<void, PlatformError>
  /** Fails when the watch ends. */
  readonly failed: Deferred.Deferred<never, PlatformError>
  readonly readers: Set<Unread>
}

/** The changes that one reader has not read yet, each path once: their number is that of the paths, however slow it is. */
class Unread {
  private readonly paths = new Set<string>()
  private readonly filled: Queue.Queue<void>
  /** The path as the reader is shown it; undefined: it does not count. */
  private readonly shown: (path: string) => string | undefined

  constructor(filled: Queue.Queue<void>, shown: (path: string) => string | undefined) {
    this.filled = filled
    this.shown = shown
  }

  add(batch: Batch): void {
    for (const path of batch) {
      const shown = this.shown(path)
      if (shown !== undefined) this.paths.add(shown)
    }
    if (this.paths.size > 0) Queue.offerUnsafe(this.filled, undefined)
  }

  /** Waits for changes. */
  readonly take: Effect.Effect<Batch> = Effect.suspend(() =>
    Effect.map(Queue.take(this.filled), () => {
      const batch = [...this.paths].slice(0, maxBatch)
      for (const path of batch) this.paths.delete(path)
      if (this.paths.size > 0) Queue.offerUnsafe(this.filled, undefined)
      return batch
    }),
  )
}

/** Begins to watch; does not wait. */
const begin = Effect.fnUntraced(function* (parts: WatchParts, directory: string) {
  const shared: SharedWatch = {
    ready: Deferred.makeUnsafe(),
    failed: Deferred.makeUnsafe(),
    readers: new Set(),
  }
  const { failed, readers, ready } = shared
  yield* directoryChanges(parts, directory, Deferred.succeed(ready, undefined)).pipe(
    Stream.groupedWithin(maxBatch, batchTime),
    Stream.runForEach((batch) =>
      Effect.sync(() => {
        const distinct = [...new Set(batch)]
        for (const reader of readers) reader.add(distinct)
      }),
    ),
    Effect.catch((error) =>
      Effect.andThen(Deferred.fail(ready, error), Deferred.fail(failed, error)),
    ),
    Effect.forkScoped({ startImmediately: true }),
  )
  return shared
})

/** Watches of directories. */
export interface SharedWatches {
  /**
   * The changes of a directory, from this effect to the end of its scope, in batches without repetition.
   *
   * @param shown the path under which a change is reported; undefined: it is not
   */
  readonly changes: (
    directory: string,
    shown: (path: string) => string | undefined,
  ) => Effect.Effect<Stream.Stream<Batch, PlatformError>, PlatformError, Scope.Scope>
}

/** Watches nothing yet. What is watched ends with the scope at the latest. */
export const make = Effect.fnUntraced(function* (
  parts: WatchParts,
): Effect.fn.Return<SharedWatches, never, Scope.Scope> {
  const all = yield* RcMap.make({ lookup: (directory: string) => begin(parts, directory) })
  return {
    changes: Effect.fnUntraced(function* (directory, shown) {
      const { failed, readers, ready } = yield* RcMap.get(all, directory)
      const unread = new Unread(yield* Queue.sliding<void>(1), shown)
      yield* Effect.acquireRelease(
        Effect.sync(() => readers.add(unread)),
        () => Effect.sync(() => readers.delete(unread)),
      )
      yield* Deferred.await(ready)
      const next = Effect.raceFirst(unread.take, Deferred.await(failed))
      return Stream.fromEffectRepeat(next)
    }),
  }
})
