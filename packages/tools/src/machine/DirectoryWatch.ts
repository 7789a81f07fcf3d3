/**
 * Watches the entries of a directory at a path, also when the directory is removed and made anew: the system watches a
 * directory and not a path, so that the new one needs a watch of its own. Keeps no state outside the stream.
 *
 * ```
 *             the directory is there
 *   look ─┬──────────────────────────▶ watch its parent, then it ── removed or replaced ──┐
 *    ▲    │ it is not                                                                     │
 *    │    └──────────────────────────▶ watch the nearest directory above it ── changed ───┤
 *    └────────────────────────────────────────────────────────────────────────────────────┘
 * ```
 */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as Path from "effect/Path"
import { PlatformError, systemError } from "effect/PlatformError"
import * as Stream from "effect/Stream"

/** The functions of the platform. */
export interface WatchParts {
  readonly fs: FileSystem.FileSystem
  readonly paths: Path.Path
}

type Changes = Stream.Stream<string, PlatformError>

/** The directory that a watch was begun for is not there any more. */
const gone = Symbol("gone")

const isThere = ({ fs }: WatchParts, path: string): Effect.Effect<boolean> =>
  Effect.match(fs.stat(path), {
    onFailure: () => false,
    onSuccess: ({ type }) => type === "Directory",
  })

/** The nearest directory above the path that is there. */
const nearestAbove = Effect.fnUntraced(function* (parts: WatchParts, path: string) {
  let at = parts.paths.dirname(path)
  while (at !== parts.paths.dirname(at) && !(yield* isThere(parts, at))) {
    at = parts.paths.dirname(at)
  }
  return at
})

/** True for the error of a watch whose directory is not there. One that is removed as the watch begins is thrown by Node. */
const isMissing = (error: unknown): boolean =>
  error instanceof PlatformError
    ? error.reason._tag === "NotFound"
    : error instanceof Error && "code" in error && error.code === "ENOENT"

/** True for what Node throws where it reports no error, for example when the system has no more watches. */
const isOfSystem = (error: unknown): boolean => error instanceof Error && "code" in error

const refused = (directory: string, cause: unknown): PlatformError =>
  systemError({
    _tag: "Unknown",
    module: "FileSystem",
    method: "watch",
    pathOrDescriptor: directory,
    cause,
  })

/** The events of a directory; `ready` is completed when they are watched. Gives `gone` where there is no directory. */
const eventsOf = (
  { fs }: WatchParts,
  directory: string,
  ready: Deferred.Deferred<void>,
): Stream.Stream<FileSystem.WatchEvent | typeof gone, PlatformError> => {
  const onReady = () => {
    Deferred.doneUnsafe(ready, Effect.void)
  }
  return Stream.catchCause(fs.watch(directory, { onReady }), (cause) => {
    const error = Cause.squash(cause)
    if (isMissing(error)) return Stream.succeed(gone)
    return Cause.hasDies(cause) && isOfSystem(error)
      ? Stream.fail(refused(directory, error))
      : Stream.failCause(cause)
  })
}

/** The changes while the directory is there. Ends when it was removed or replaced, which is a change of its own path. */
const whilePresent = (
  parts: WatchParts,
  directory: string,
  onReady: Effect.Effect<ReadonlyArray<string>>,
): Changes =>
  Stream.unwrap(
    Effect.gen(function* () {
      const { paths } = parts
      const above = paths.dirname(directory)
      const parentReady = yield* Deferred.make<void>()
      const ready = yield* Deferred.make<void>()
      const ofParent = eventsOf(parts, above, parentReady).pipe(
        Stream.filter(
          (event) =>
            event === gone ||
            (event._tag !== "Update" && paths.resolve(above, event.path) === directory),
        ),
        Stream.map(() => gone),
      )
      // After its parent, so that no directory replaces it unnoticed.
      const own = Stream.unwrap(
        Effect.as(Deferred.await(parentReady), eventsOf(parts, directory, ready)),
      ).pipe(Stream.map((event) => (event === gone ? gone : paths.resolve(directory, event.path))))
      const begun = Stream.fromIterableEffect(Effect.andThen(Deferred.await(ready), onReady))
      return Stream.merge(Stream.merge(ofParent, own), begun).pipe(
        Stream.takeUntil((change) => change === gone),
        Stream.map((change) => (typeof change === "string" ? change : directory)),
      )
    }),
  )

/** Nothing, until the directory is there, or another directory above it is the nearest one. */
const whileAbsent = (parts: WatchParts, directory: string): Changes =>
  Stream.unwrap(
    Effect.gen(function* () {
      const at = yield* nearestAbove(parts, directory)
      const ready = yield* Deferred.make<void>()
      const isOver = Effect.gen(function* () {
        return (yield* isThere(parts, directory)) || (yield* nearestAbove(parts, directory)) !== at
      })
      // Looked at once more when the watch has begun: it may have come before.
      const looks = Stream.merge(
        eventsOf(parts, at, ready),
        Stream.fromEffect(Effect.as(Deferred.await(ready), undefined)),
      )
      return looks.pipe(
        Stream.mapEffect((look) => (look === gone ? Effect.succeed(true) : isOver)),
        Stream.takeUntil((over) => over),
        Stream.flatMap(() => Stream.empty),
      )
    }),
  )

/**
 * The paths of the entries that change, and the path of the directory when it is removed, replaced or made anew. What is in
 * a new directory already is not reported one by one. Never ends.
 *
 * @param onReady is run when the directory is watched for the first time
 */
export const directoryChanges = (
  parts: WatchParts,
  directory: string,
  onReady: Effect.Effect<unknown>,
): Changes =>
  Stream.suspend(() => {
    let isFirst = true
    const begun = Effect.suspend(() => {
      if (!isFirst) return Effect.succeed([directory])
      isFirst = false
      return Effect.as(onReady, [])
    })
    return Stream.forever(
      Stream.unwrap(
        Effect.map(isThere(parts, directory), (there) =>
          there ? whilePresent(parts, directory, begun) : whileAbsent(parts, directory),
        ),
      ),
    )
  })
