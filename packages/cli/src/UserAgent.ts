/** How the server calls itself: its name and version, the system, the terminal (§1.2). */
import { arch, release, type } from "node:os"
import { version } from "./Version.ts"

/** Of a terminal that says nothing. */
const unknown = "unknown"

export const userAgent = (environment: Readonly<Record<string, string | undefined>>): string => {
  const terminal = environment["TERM_PROGRAM"] ?? environment["TERM"] ?? unknown
  // What goes into a header must be plain.
  return `colloquy/${version} (${type()} ${release()}; ${arch()}) ${terminal}`.replaceAll(
    /[^ -~]/g,
    "_",
  )
}
