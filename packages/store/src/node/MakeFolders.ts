/**
 * A folder and all above it. Not by Node's own recursion: where a file system refuses a folder as missing although the one
 * above it is there, as `/proc` does, that tries again for ever.
 */
import * as FS from "node:fs"
import { dirname } from "node:path"

const isFolder = (path: string): boolean =>
  FS.statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ENOENT"

/**
 * Gives the uppermost folder that was made, undefined when all were there. Throws a system error.
 *
 * @param mode of each new folder. Default: all that the mask of the process leaves
 */
export const makeFolders = (path: string, mode?: number): string | undefined => {
  const make = (): string | undefined => {
    try {
      FS.mkdirSync(path, mode)
      return path
    } catch (error) {
      // Also when another process was quicker.
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
