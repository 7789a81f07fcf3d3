/**
 * Reads an image file of this machine as a data URL. It reads what a sandboxed command could read: any file but the
 * secrets. The format is recognized by the bytes, never by the name; only formats that models accept are returned.
 */
import * as Base64 from "effect/encoding/Base64"
import * as Effect from "effect/Effect"
import * as Path from "effect/Path"
import { imageDimensionsFromData } from "image-dimensions"
import * as HiddenFiles from "../sandbox/HiddenFiles.ts"
import type { FileNotOpened } from "../sandbox/NodeFiles.ts"

/** Limit: the data URL is a third longer, and all of it is sent to the provider with every later request. */
const maxBytes = 10 * 1024 * 1024

const accepted: ReadonlySet<string> = new Set(["png", "jpeg", "gif", "webp"])

/** The image as a data URL, or why it cannot be shown. */
type ImageFile = { readonly url: string } | { readonly problem: string }

/** Access to image files. */
export interface ImageFiles {
  /** Reads an image. `path` is absolute or relative to `cwd`, which is absolute. Never fails. */
  readonly read: (cwd: string, path: string) => Effect.Effect<ImageFile>
  /** The absolute path. */
  readonly resolve: (cwd: string, path: string) => string
}

const problem = (text: string): ImageFile => ({ problem: text })

const dataUrl = Effect.fnUntraced(function* (
  hidden: HiddenFiles.HiddenFiles,
  path: string,
  workspace: string,
) {
  const { read, size } = yield* hidden.open(path, workspace)
  if (size > maxBytes) return problem(`it has ${size} bytes, expected at most ${maxBytes}`)
  const bytes = yield* read(maxBytes)
  const kind = imageDimensionsFromData(bytes)?.type
  return kind === undefined || !accepted.has(kind)
    ? problem("expected a PNG, JPEG, GIF or WebP image")
    : { url: `data:image/${kind};base64,${Base64.encode(bytes)}` }
}, Effect.scoped)

const failed = ({ message, reason }: FileNotOpened): ImageFile => {
  switch (reason) {
    case "Missing":
      return problem("no such file")
    case "Directory":
    case "Special":
      return problem("expected a file")
    case "Denied":
      return problem("it may not be read")
    default:
      return problem(message)
  }
}

/** @param hiddenPaths absolute paths */
export const make = (
  hiddenPaths: ReadonlyArray<string>,
): Effect.Effect<ImageFiles, never, Path.Path> =>
  Effect.gen(function* () {
    const { resolve } = yield* Path.Path
    const hidden = HiddenFiles.make(hiddenPaths)
    return {
      resolve,
      read: (cwd, path) =>
        path.includes("\0") || path === ""
          ? Effect.succeed(problem("expected the path of a file"))
          : Effect.catch(dataUrl(hidden, resolve(cwd, path), cwd), (error) =>
              Effect.succeed(failed(error)),
            ),
    }
  })
