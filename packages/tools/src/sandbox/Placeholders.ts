/**
 * Directories that stand on the host while something that does not exist is guarded (a missing `.git`). Each holds one
 * marker per use, so that several servers count their uses in the file system: whoever leaves last removes it, and
 * only empty. What a person made there meanwhile stays. Of a server that is killed the watchdog removes the markers.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Random from "effect/Random"
import { Reaper } from "../process/Reaper.ts"
import { removeIfEmpty } from "./NodeFiles.ts"
import { refused } from "./Refusal.ts"

const markerPrefix = ".colloquy-sandbox-"

/** Another server may remove the directory between its making and its marking, or have a marker of the same name. */
const attempts = 5
/** Names of markers are drawn from so many. */
const maxMarker = 2 ** 48

/**
 * True for a directory that holds nothing but markers, or nothing at all as between two steps of ours; also for one that
 * a command which was over has taken away since it was seen.
 */
export const isPlaceholder = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const names = yield* fs.readDirectory(directory).pipe(
    Effect.catchIf(
      (error) => error.reason._tag === "NotFound",
      () => Effect.succeed([]),
    ),
  )
  return names.every((name) => name.startsWith(markerPrefix))
})

const mark = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const reaper = yield* Reaper
  // Not recursive, which would make a whole path that a command took away.
  yield* fs.makeDirectory(directory).pipe(
    Effect.catchIf(
      (error) => error.reason._tag === "AlreadyExists",
      () => Effect.void,
    ),
  )
  const marker = `${directory}/${markerPrefix}${(yield* Random.nextIntBetween(0, maxMarker)).toString(36)}`
  // Told first: one that was made and not told of would stay.
  yield* reaper.tidy(marker)
  yield* fs.makeDirectory(marker).pipe(Effect.onError(() => reaper.tidied(marker)))
  return marker
})

/** The directory stands until the scope ends. */
export const placeholder = Effect.fnUntraced(function* (directory: string) {
  const reaper = yield* Reaper
  yield* reaper.ready
  return yield* Effect.acquireRelease(
    mark(directory).pipe(
      Effect.retry({
        times: attempts,
        while: ({ reason: { _tag } }) => _tag === "NotFound" || _tag === "AlreadyExists",
      }),
      Effect.mapError((error) =>
        refused(`the sandbox can't guard ${directory}, which does not exist: ${error.message}`),
      ),
    ),
    (marker) =>
      Effect.all([removeIfEmpty(marker), removeIfEmpty(directory), reaper.tidied(marker)], {
        discard: true,
      }),
  )
})
