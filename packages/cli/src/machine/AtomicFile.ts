/** Replaces a small file atomically: no program reads a partial file, and a crash leaves the old or the new one. */
import { makeFolders } from "@colloquy/store/node/MakeFolders"
import { chmodSync, closeSync, fsyncSync, openSync, realpathSync } from "node:fs"
import { renameSync, rmSync, statSync, writeSync } from "node:fs"
import { basename, dirname, join } from "node:path"

/** The path without symbolic links, and the permissions of the new file. */
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
 * Returns when the new file is on disk. On failure throws a system error and leaves the old file unchanged. Creates the
 * directory if it is missing.
 *
 * @param options.suffix of the temporary file in the same directory; must be unique
 * @param options.mode permissions; default: those of the old file, and 0600 for a new one
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
    // The process's umask may have removed permissions.
    chmodSync(temporary, file.mode)
    renameSync(temporary, file.path)
  } finally {
    rmSync(temporary, { force: true })
  }
  withHandle(openSync(directory, "r"), fsyncSync)
}
