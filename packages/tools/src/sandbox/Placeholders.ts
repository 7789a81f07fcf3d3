/**
 * Directories that exist on the host while a missing path is protected (a missing `.git`). Each contains one marker per
 * use, so that several servers count their uses in the file system: the last one removes the directory, and only if it
 * is empty. What a person created there meanwhile stays. When a server is killed, its watchdog removes the markers.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Random from "effect/Random"
import { Watchdog } from "../process/Watchdog.ts"
import { makeMarked } from "./NodeFiles.ts"
import { sandboxRefused } from "./SandboxRefusal.ts"

const markerPrefix = ".colloquy-sandbox-"

/** Another server may remove the directory between its creation and its marking, or have a marker of the same name. */
const attempts = 5
/** Number of possible marker names. */
const maxMarker = 2 ** 48

/**
 * True for a directory that contains nothing but markers, or nothing at all, as between two steps of `placeholder`.
 * Also true for one that a finished command has removed since it was seen.
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
  const watchdog = yield* Watchdog
  const name = `${markerPrefix}${(yield* Random.nextIntBetween(0, maxMarker)).toString(36)}`
  const marker = `${directory}/${name}`
  // Registered before it is created: the watchdog would not remove one that it does not know.
  yield* watchdog.addDirectory(marker)
  const remove = yield* makeMarked(directory, name).pipe(
    Effect.onError(() => watchdog.removeDirectory(marker)),
  )
  return Effect.andThen(remove, watchdog.removeDirectory(marker))
})

/**
 * Keeps the directory existing until the scope closes. `directory` has no links: when one of its parents has been
 * replaced since that was established, this fails and leaves nothing.
 */
export const placeholder = Effect.fnUntraced(function* (directory: string) {
  const watchdog = yield* Watchdog
  yield* watchdog.ready
  const marked = Effect.acquireRelease(
    mark(directory).pipe(
      Effect.retry({ times: attempts, while: ({ isConcurrent }) => isConcurrent }),
      Effect.mapError((error) =>
        sandboxRefused(
          `the sandbox can't protect ${directory}, which does not exist: ${error.message}`,
        ),
      ),
    ),
    (release) => release,
  )
  yield* Effect.asVoid(marked)
})
