/**
 * Creates a folder and its missing parents. Does not use the recursion of `node:fs`, which never
 * ends on a file system that reports a folder as missing although its parent exists, as `/proc`
 * does.
 */
import * as FS from "node:fs"
import { dirname } from "node:path"

const isFolder = (path: string): boolean =>
  FS.statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ENOENT"

/**
 * Creates a folder and its missing parents. Returns the topmost folder that was created, or
 * undefined when all existed. Throws a system error.
 *
 * @param mode permissions of each new folder. Default: everything that the umask of the process
 * permits
 */
export const makeFolders = (path: string, mode?: number): string | undefined => {
  const make = (): string | undefined => {
    try {
      FS.mkdirSync(path, mode)
      return path
    } catch (error) {
      // Also true when another process created it first.
      if (isFolder(path)) return undefined
      throw error
    }
  }
  try {
    return make()
  } catch (error) {
    const above = dirname(path)
    if (!isMissing(error) || above === path) throw error
    const first = makeFolders(above, mode)
    return make() === undefined ? first : (first ?? path)
  }
}
