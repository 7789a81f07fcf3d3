/**
 * Directories for files that a program of the server works on. They lie where no confined command can write, so that no
 * command can replace a file, or redirect the server's writing by a symbolic link. Part of L15.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"

/** Creates an empty directory below `hidden`, a path that the sandbox hides. It is removed when the scope closes. */
export const make = Effect.fn("PrivateDirectory.make")(function* (hidden: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const directory = path.join(hidden, "tmp")
  yield* fs.makeDirectory(directory, { recursive: true, mode: 0o700 })
  return yield* fs.makeTempDirectoryScoped({
    directory: yield* fs.realPath(directory),
    prefix: "git-",
  })
})
