/** Reads files for the patch tool: links are followed, and hidden files cannot be read. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Result from "effect/Result"
import type { FileReader } from "../patch/PatchPlan.ts"
import type { FileState } from "../patch/Operation.ts"
import * as Utf8 from "../patch/Utf8.ts"
import * as HiddenFiles from "../sandbox/HiddenFiles.ts"
import type { FileNotOpened } from "../sandbox/NodeFiles.ts"

/** Access to the files of this machine for the patch tool. */
export interface PatchFiles {
  /** A reader for a conversation whose working directory is `workspace`, an absolute path. */
  readonly readIn: (workspace: string) => FileReader
  /** The path with the links of all existing parts followed; parts that do not exist are taken literally. */
  readonly canonical: (path: string) => Effect.Effect<string>
  /** Like `canonical`, but a link at the end is not followed. */
  readonly canonicalParent: (path: string) => Effect.Effect<string>
}

/** A patch keeps the whole file in memory, several times. */
const maxBytes = 64 * 1024 * 1024

const unreadable = (reason: string): FileState => ({ _tag: "Unreadable", reason })

const failed = ({ message, reason }: FileNotOpened): FileState => {
  switch (reason) {
    case "Missing":
      return { _tag: "Missing" }
    case "Directory":
      return { _tag: "Directory" }
    case "Denied":
      return unreadable("Permission denied (os error 13)")
    case "Special":
      return unreadable("not a regular file")
    default:
      return unreadable(message)
  }
}

const readFile = Effect.fnUntraced(function* (
  hidden: HiddenFiles.HiddenFiles,
  path: string,
  workspace: string,
) {
  const { mode, read, size } = yield* hidden.open(path, workspace)
  if (size > maxBytes) return unreadable(`it has ${size} bytes, expected at most ${maxBytes}`)
  const bytes = yield* read(maxBytes)
  return Result.match(Utf8.decode(bytes), {
    onFailure: (reason): FileState => ({ _tag: "Binary", bytes, reason }),
    onSuccess: (text): FileState => ({ _tag: "Text", text, isExecutable: (mode & 0o111) !== 0 }),
  })
}, Effect.scoped)

/** @param hiddenPaths absolute paths */
export const make = (
  hiddenPaths: ReadonlyArray<string>,
): Effect.Effect<PatchFiles, never, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const { basename, dirname, join } = yield* Path.Path

    const canonical: PatchFiles["canonical"] = (path) =>
      Effect.catch(fs.realPath(path), () => {
        const parent = dirname(path)
        return parent === path
          ? Effect.succeed(path)
          : Effect.map(canonical(parent), (real) => join(real, basename(path)))
      })

    const hidden = HiddenFiles.make(hiddenPaths)

    const readIn: PatchFiles["readIn"] = (workspace) => (path) =>
      Effect.catch(readFile(hidden, path, workspace), (error) => Effect.succeed(failed(error)))

    const canonicalParent: PatchFiles["canonicalParent"] = (path) =>
      Effect.map(canonical(dirname(path)), (real) => join(real, basename(path)))

    return { readIn, canonical, canonicalParent }
  })
