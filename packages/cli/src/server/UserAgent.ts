/**
 * The value of `userAgent`, in the original's format `NAME/VERSION (SYSTEM; ARCHITECTURE) TERMINAL`. The version is the one
 * of the original that this program is compatible with; Colloquy's own version follows the architecture.
 */
import { arch, release, type } from "node:os"
import { defaultCompatibility, version } from "./Version.ts"

/** The terminal's name if no variable gives it. */
const unknown = "unknown"

/** @param compatibility version of the original that is stated */
export const userAgent = (
  environment: Readonly<Record<string, string | undefined>>,
  compatibility: string = defaultCompatibility,
): string => {
  const terminal = environment["TERM_PROGRAM"] ?? environment["TERM"] ?? unknown
  // Headers may contain only printable ASCII.
  return `colloquy/${compatibility} (${type()} ${release()}; ${arch()}; colloquy ${version}) ${terminal}`.replaceAll(
    /[^ -~]/g,
    "_",
  )
}
