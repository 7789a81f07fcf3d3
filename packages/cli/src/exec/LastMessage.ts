/** Writes the file of `-o`: the last message of the agent. */
import { statSync, writeFileSync } from "node:fs"
import { errorLine } from "../log/ErrorLine.ts"

const problemAt = (path: string, reason: string): string =>
  `Failed to write the last message to ${path}: ${reason}`

/** Why nothing can be written there; undefined if it can be tried. A pipe would block the process until it has a reader. */
export const lastMessageProblem = (path: string | undefined): string | undefined => {
  const found = path === undefined ? undefined : statSync(path, { throwIfNoEntry: false })
  if (path === undefined || found === undefined) return undefined
  if (found.isDirectory()) return problemAt(path, "it is a directory")
  return found.isFIFO() || found.isSocket()
    ? problemAt(path, "expected a file or a device, it is a pipe")
    : undefined
}

/** Writes the message. Returns why it could not be written; undefined where it was, or where there is no path. */
export const writeLastMessage = (path: string | undefined, text: string): string | undefined => {
  if (path === undefined) return undefined
  try {
    const problem = lastMessageProblem(path)
    if (problem === undefined) writeFileSync(path, text)
    return problem
  } catch (error) {
    return problemAt(path, errorLine(error))
  }
}
