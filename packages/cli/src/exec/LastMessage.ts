/** Writes the file of `-o`: the last message of the agent. */
import { accessSync, constants, statSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { reasonLine } from "../log/ErrorLine.ts"

const problemAt = (path: string, reason: string): string =>
  `Failed to write the last message to ${path}: ${reason}`

/** Why the file cannot be written; undefined if it can be tried. Throws an error of the system. */
const reasonOf = (path: string): string | undefined => {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) {
    const directory = dirname(path)
    accessSync(directory, constants.W_OK | constants.X_OK)
    return statSync(directory).isDirectory() ? undefined : `${directory} is not a directory`
  }
  if (found.isDirectory()) return "it is a directory"
  // A pipe would block the process until it has a reader.
  if (found.isFIFO() || found.isSocket()) return "expected a file or a device, it is a pipe"
  accessSync(path, constants.W_OK)
  return undefined
}

/** Why nothing can be written there; undefined if it can be tried, and without a path. */
export const lastMessageProblem = (path: string | undefined): string | undefined => {
  if (path === undefined) return undefined
  try {
    const reason = reasonOf(path)
    return reason === undefined ? undefined : problemAt(path, reason)
  } catch (error) {
    return problemAt(path, reasonLine(error))
  }
}

/** Writes the message. Returns why it could not be written; undefined where it was, or where there is no path. */
export const writeLastMessage = (path: string | undefined, text: string): string | undefined => {
  if (path === undefined) return undefined
  const problem = lastMessageProblem(path)
  if (problem !== undefined) return problem
  try {
    writeFileSync(path, text)
    return undefined
  } catch (error) {
    return problemAt(path, reasonLine(error))
  }
}
