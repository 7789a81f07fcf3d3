/**
 * What `userAgent` states, in the original's form `NAME/VERSION (SYSTEM; ARCHITECTURE) TERMINAL`: the version is the one
 * of the original that this program is compatible with, its own one follows the architecture.
 */
import { arch, release, type } from "node:os"
import { defaultCompatibility, version } from "./Version.ts"

/** Of a terminal that says nothing. */
const unknown = "unknown"

export const userAgent = (
  environment: Readonly<Record<string, string | undefined>>,
  compatibility: string = defaultCompatibility,
): string => {
  const terminal = environment["TERM_PROGRAM"] ?? environment["TERM"] ?? unknown
  // What goes into a header must be plain.
  return `colloquy/${compatibility} (${type()} ${release()}; ${arch()}; colloquy ${version}) ${terminal}`.replaceAll(
    /[^ -~]/g,
    "_",
  )
}
