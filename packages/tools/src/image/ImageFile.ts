/**
 * An image file of this machine as a data URL. It is read as a sandboxed command would read it: any file but the secrets.
 * The kind is told by the bytes, never by the name; only what models take is given.
 */
import * as Base64 from "effect/encoding/Base64"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import { imageDimensionsFromData } from "image-dimensions"
import { readHead } from "../project/ReadHead.ts"

/** A data URL of it is a third longer, and all of it goes to the provider with every request that follows. */
const maxBytes = 10 * 1024 * 1024

const accepted: ReadonlySet<string> = new Set(["png", "jpeg", "gif", "webp"])

/** The image, or why it cannot be shown. */
type ImageFile = { readonly url: string } | { readonly problem: string }

export interface ImageFiles {
  /** `path` is absolute or from `cwd`, which is absolute. */
  readonly read: (cwd: string, path: string) => Effect.Effect<ImageFile>
  readonly resolve: (cwd: string, path: string) => string
}

const problem = (text: string): ImageFile => ({ problem: text })

const dataUrl = Effect.fnUntraced(function* (absolute: string, hiddenPaths: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  // What is hidden is hidden behind links, too, those that its own name leads through among them.
  const real = yield* fs.realPath(absolute)
  const hiddenReal = yield* Effect.forEach(hiddenPaths, (hidden) =>
    Effect.orElseSucceed(fs.realPath(hidden), () => hidden),
  )
  if (hiddenReal.some((hidden) => real === hidden || real.startsWith(`${hidden}/`))) {
    return problem("it may not be read")
  }
  const { size, type } = yield* fs.stat(real)
  if (type !== "File") return problem("expected a file")
  const tooLarge = (bytes: string) => problem(`it has ${bytes} bytes, expected at most ${maxBytes}`)
  if (size > maxBytes) return tooLarge(String(size))
  // Some files of the system are read by words of eight bytes.
  const bytes = yield* readHead(real, maxBytes + 8)
  if (bytes.length > maxBytes) return tooLarge(`more than ${maxBytes}`)
  const kind = imageDimensionsFromData(bytes)?.type
  return kind === undefined || !accepted.has(kind)
    ? problem("expected a PNG, JPEG, GIF or WebP image")
    : { url: `data:image/${kind};base64,${Base64.encode(bytes)}` }
})

/** `hiddenPaths` are absolute. */
export const make = (
  hiddenPaths: ReadonlyArray<string>,
): Effect.Effect<ImageFiles, never, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function* () {
    const services = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
    const { resolve } = yield* Path.Path
    return {
      resolve,
      read: (cwd, path) =>
        path.includes("\0") || path === ""
          ? Effect.succeed(problem("expected the path of a file"))
          : dataUrl(resolve(cwd, path), hiddenPaths).pipe(
              Effect.catchTag("PlatformError", (error) =>
                Effect.succeed(
                  problem(error.reason._tag === "NotFound" ? "no such file" : error.message),
                ),
              ),
              Effect.provideContext(services),
            ),
    }
  })
