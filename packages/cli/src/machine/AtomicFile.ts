/** Replaces a small file as a whole: nobody ever reads half of it, and a crash leaves the old one or the new one. */
import { makeFolders } from "@colloquy/store/node/MakeFolders"
import { chmodSync, closeSync, fsyncSync, openSync, realpathSync } from "node:fs"
import { renameSync, rmSync, statSync, writeSync } from "node:fs"
import { basename, dirname, join } from "node:path"

/** Its own, where it is a link. */
const target = (path: string, mode: number | undefined) => {
  try {
    const real = realpathSync(path)
    return { path: real, mode: mode ?? statSync(real).mode & 0o777 }
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") {
      return { path, mode: mode ?? 0o600 }
    }
    throw error
  }
}

const withHandle = (handle: number, use: (handle: number) => void): void => {
  try {
    use(handle)
  } finally {
    closeSync(handle)
  }
}

/**
 * Returns when the new file is on disk. Throws a system error and leaves the old one. The directory is made where it is
 * missing.
 *
 * @param options.suffix of the temporary file beside it; unused by anybody else
 * @param options.mode default: as it was; of a new file its owner's alone
 */
export const replace = (
  path: string,
  text: string,
  options: { readonly suffix: string; readonly mode?: number },
): void => {
  makeFolders(dirname(path))
  const file = target(path, options.mode)
  const directory = dirname(file.path)
  const temporary = join(directory, `.${basename(file.path)}.${options.suffix}`)
  try {
    withHandle(openSync(temporary, "wx", file.mode), (handle) => {
      writeSync(handle, text)
      fsyncSync(handle)
    })
    // The mask of the process may have taken something away.
    chmodSync(temporary, file.mode)
    renameSync(temporary, file.path)
  } finally {
    rmSync(temporary, { force: true })
  }
  withHandle(openSync(directory, "r"), fsyncSync)
}
