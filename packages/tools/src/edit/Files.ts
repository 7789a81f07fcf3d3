/** How the patch tool looks at the machine's files: links are followed, and what is hidden is not to be read. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import * as Result from "effect/Result"
import type { FileReader } from "../patch/Compute.ts"
import type { FileState } from "../patch/Operation.ts"
import { readHead } from "../project/ReadHead.ts"
import * as Utf8 from "../patch/Utf8.ts"

export interface Files {
  readonly read: FileReader
  /** The path with the links of everything that exists followed; what does not exist yet is taken as it is spelt. */
  readonly canonical: (path: string) => Effect.Effect<string>
  /** Likewise, but for a link at the end, which is not followed. */
  readonly standing: (path: string) => Effect.Effect<string>
}

/** A patch holds the whole file in memory, several times over. */
const maxBytes = 64 * 1024 * 1024

const isBelow = (path: string, root: string) => path === root || path.startsWith(`${root}/`)

/** Its files are not the project's, and those of the server show its environment: events would carry it. */
const systemPaths = ["/proc"]

const unreadable = (reason: string): FileState => ({ _tag: "Unreadable", reason })
const notPermitted = unreadable("Permission denied (os error 13)")

const failed = (error: PlatformError): FileState => {
  switch (error.reason._tag) {
    case "NotFound":
      return { _tag: "Missing" }
    case "PermissionDenied":
      return notPermitted
    default:
      return unreadable(error.message)
  }
}

const readFile = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const { mode, size, type } = yield* fs.stat(path)
  if (type === "Directory") return { _tag: "Directory" } as const
  if (type !== "File") return unreadable("not a regular file")
  const tooLarge = (bytes: string) =>
    unreadable(`it has ${bytes} bytes, expected at most ${maxBytes}`)
  if (size > maxBytes) return tooLarge(String(size))
  const bytes = yield* readHead(path, maxBytes + 1)
  if (bytes.length > maxBytes) return tooLarge(`more than ${maxBytes}`)
  return Result.match(Utf8.decode(bytes), {
    onFailure: (reason): FileState => ({ _tag: "Binary", bytes, reason }),
    onSuccess: (text): FileState => ({ _tag: "Text", text, isExecutable: (mode & 0o111) !== 0 }),
  })
})

/** `hiddenPaths` are absolute. */
export const make = (
  hiddenPaths: ReadonlyArray<string>,
): Effect.Effect<Files, never, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const { basename, dirname, join } = yield* Path.Path

    const canonical: Files["canonical"] = (path) =>
      Effect.catch(fs.realPath(path), () => {
        const parent = dirname(path)
        return parent === path
          ? Effect.succeed(path)
          : Effect.map(canonical(parent), (real) => join(real, basename(path)))
      })

    const read: FileReader = Effect.fnUntraced(function* (path) {
      const real = yield* canonical(path)
      const hidden = yield* Effect.forEach(hiddenPaths, canonical)
      if ([...systemPaths, ...hidden].some((root) => isBelow(real, root))) return notPermitted
      // What was judged is what is read: a link may lead elsewhere by now.
      return yield* readFile(real).pipe(
        Effect.catch((error) => Effect.succeed(failed(error))),
        Effect.provideService(FileSystem.FileSystem, fs),
      )
    })

    const standing: Files["standing"] = (path) =>
      Effect.map(canonical(dirname(path)), (real) => join(real, basename(path)))

    return { read, canonical, standing }
  })
