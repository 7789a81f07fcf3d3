/**
 * Watches the folders whose skills the client of one connection has listed, and reports each burst of changes once. What is
 * not there yet is noticed by the nearest directory that is. The watches end with the scope of the connection.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import { type FileFailed, FilePort, type Files } from "./ports/FilePort.ts"

/** Watches of one connection. Each takes a handle of the system; there is one per folder and one per skill. */
const maxWatches = 256
/** Folders of one connection that are watched: those of the latest lists. */
const maxFolders = 64
/** A burst ends when nothing has changed for this time, and is reported after this number of times at the latest. */
const burstTime = Duration.millis(500)
const maxBurstTimes = 10
/** What is created while the watches begin is found by looking again, at most this number of times. */
const maxLooks = 3

/** A directory to watch. `paths`: only changes of these and of what leads to them count; absent: every change does. */
interface Place {
  readonly path: string
  readonly paths?: ReadonlyArray<string>
}

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf("/")) || "/"

const isDirectory = (files: Files, path: string): Effect.Effect<boolean> =>
  files.describe(path).pipe(
    Effect.map((facts) => facts.isDirectory),
    Effect.orElseSucceed(() => false),
  )

/** The path itself if it is a directory, or the nearest directory above it that is there. */
const nearest = Effect.fnUntraced(function* (files: Files, path: string) {
  let at = path
  while (at !== "/" && !(yield* isDirectory(files, at))) at = parentOf(at)
  return at
})

/** The directories of the skills in a folder. */
const skillsIn = (files: Files, folder: string): Effect.Effect<ReadonlyArray<Place>> =>
  files.list(folder).pipe(
    Effect.map((entries) =>
      entries.flatMap((entry) =>
        entry.isDirectory ? [{ path: `${folder}/${entry.fileName}` }] : [],
      ),
    ),
    Effect.orElseSucceed(() => []),
  )

/** What has to be watched for these folders as the files are now: the folders before the skills. */
const placesOf = Effect.fnUntraced(function* (files: Files, folders: ReadonlyArray<string>) {
  const whole: Array<Place> = []
  const above = new Map<string, Array<string>>()
  const skills: Array<Place> = []
  for (const folder of folders) {
    const at = yield* nearest(files, folder)
    if (at === folder) {
      whole.push({ path: folder })
      skills.push(...(yield* skillsIn(files, folder)))
    } else above.set(at, [...(above.get(at) ?? []), folder])
  }
  const parts = [...above].map(([path, paths]) => ({ path, paths }))
  return [...whole, ...parts, ...skills].slice(0, maxWatches)
})

const ended = ({ message }: FileFailed): Effect.Effect<void> =>
  Effect.logDebug(`skills are not watched: ${message}`)

const keyOf = (places: ReadonlyArray<Place>): string => JSON.stringify(places)

/** Whether the change of a path, as the watch of the place names it, counts. `real` is the path of the place without links. */
const counts =
  ({ path, paths }: Place, real: string) =>
  (changed: string): boolean =>
    paths === undefined ||
    changed === real ||
    paths.some((wanted) => `${real}${wanted.slice(path.length)}/`.startsWith(`${changed}/`))

/** See the header. */
export interface SkillWatches {
  /**
   * Watches these folders too, from this effect on. `report` is called once per burst of changes, from the first call on; later
   * ones keep that of the first. What cannot be watched is not.
   */
  readonly add: (folders: ReadonlyArray<string>, report: Effect.Effect<void>) => Effect.Effect<void>
}

/** Opens `changed` with every change of the place that counts, until the scope closes. */
const watch = Effect.fnUntraced(function* (files: Files, place: Place, changed: Latch.Latch) {
  const begun = yield* files.watch(place.path)
  const isOfSkills = counts(place, begun.path.replace(/\/$/, ""))
  yield* Stream.runForEach(begun.changes, (paths) =>
    paths.some(isOfSkills) ? changed.open : Effect.void,
  ).pipe(Effect.catch(ended), Effect.forkScoped({ startImmediately: true }))
})

/** Resolves when the burst that has begun is over. */
const burst = Effect.fnUntraced(function* (changed: Latch.Latch) {
  for (let times = 0; times < maxBurstTimes; times++) {
    yield* changed.close
    yield* Effect.sleep(burstTime)
    if (!changed.isOpen()) return
  }
})

/** Adds folders to those that are watched, as the latest; beyond the limit the oldest are left out. */
const addFolders = (folders: Set<string>, more: ReadonlyArray<string>): void => {
  for (const folder of more) {
    folders.delete(folder)
    folders.add(folder)
  }
  for (const oldest of folders) {
    if (folders.size <= maxFolders) break
    folders.delete(oldest)
  }
}

/**
 * Watches these folders as they are when it runs. With `isReplaced` the watches are replaced even where the directories have
 * the same paths. Each run waits for the one before.
 */
const watching = (scope: Scope.Scope, folders: ReadonlySet<string>, changed: Latch.Latch) => {
  const turn = Semaphore.makeUnsafe(1)
  let current: { readonly key: string; readonly scope: Scope.Closeable } | undefined

  /** Replaces the watches by those of the folders as the files are now. The new ones begin before the old ones end. */
  const replace = Effect.fnUntraced(function* (isReplaced: boolean) {
    const files = yield* FilePort
    for (let looks = 0; looks < maxLooks; looks++) {
      const places = yield* placesOf(files, [...folders])
      const before = current
      const key = keyOf(places)
      // A directory that was removed and created again has the same path, and needs another watch.
      if (before?.key === key && !(isReplaced && looks === 0)) return
      current = { key, scope: yield* Scope.fork(scope) }
      yield* Effect.forEach(places, (place) => Effect.catch(watch(files, place, changed), ended), {
        discard: true,
      }).pipe(Scope.provide(current.scope))
      if (before !== undefined) yield* Scope.close(before.scope, Exit.void)
    }
  })

  /** Goes on when the request that wants it was cancelled. */
  return (isReplaced: boolean) =>
    Effect.flatMap(Effect.forkIn(turn.withPermit(replace(isReplaced)), scope), Fiber.join)
}

/** @param scope ends the watches */
export const make = (scope: Scope.Scope): SkillWatches => {
  const folders = new Set<string>()
  const changed = Latch.makeUnsafe(false)
  const renew = watching(scope, folders, changed)
  let isReporting = false

  const reporting = (report: Effect.Effect<void>) =>
    changed.await.pipe(
      Effect.andThen(burst(changed)),
      Effect.andThen(changed.close),
      // The client reads the skills after the report: what changes then is watched already.
      Effect.andThen(renew(true)),
      Effect.andThen(report),
      Effect.forever,
    )

  return {
    add: Effect.fnUntraced(function* (more, report) {
      addFolders(folders, more)
      yield* renew(false)
      if (isReporting) return
      isReporting = true
      yield* Effect.forkIn(reporting(report), scope)
    }),
  }
}
