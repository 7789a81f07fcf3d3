/** Lists and reads the files `prompts/*.md` of a state directory. Only reads; which of them are prompts is decided elsewhere. */
import type { PromptFile } from "@colloquy/server/features/PromptFiles"
import { open, readdir, stat } from "node:fs/promises"
import { join } from "node:path"

const ending = ".md"

const directoryOf = (stateDirectory: string) => join(stateDirectory, "prompts")

const isMissing = (cause: unknown): boolean =>
  cause instanceof Error && "code" in cause && cause.code === "ENOENT"

/** The facts about a file; undefined if it is not a regular file or no longer exists. Follows links, with which prompts are shared. */
const look = async (directory: string, file: string): Promise<PromptFile | undefined> => {
  try {
    const found = await stat(join(directory, file))
    return found.isFile()
      ? { name: file.slice(0, -ending.length), size: found.size, modifiedMs: found.mtimeMs }
      : undefined
  } catch (cause) {
    if (isMissing(cause)) return undefined
    throw cause
  }
}

/** Most files that are examined. */
const maxExamined = 1024

/** The files of the directory, at most 1024; none if it does not exist. Rejects with a system error. */
export const list = async (stateDirectory: string): Promise<ReadonlyArray<PromptFile>> => {
  const directory = directoryOf(stateDirectory)
  let names: ReadonlyArray<string>
  try {
    names = await readdir(directory)
  } catch (cause) {
    if (isMissing(cause)) return []
    throw cause
  }
  const found: Array<PromptFile> = []
  for (const file of names.filter((name) => name.endsWith(ending)).slice(0, maxExamined)) {
    const one = await look(directory, file)
    if (one !== undefined) found.push(one)
  }
  return found
}

/** The first `maxBytes` of a file as text. @param name as `list` returned it, so that it is a file of that directory */
export const read = async (
  stateDirectory: string,
  name: string,
  maxBytes: number,
): Promise<string> => {
  const file = await open(join(directoryOf(stateDirectory), `${name}${ending}`))
  try {
    const { buffer, bytesRead } = await file.read({ buffer: new Uint8Array(maxBytes) })
    return new TextDecoder("utf-8", { fatal: true }).decode(buffer.subarray(0, bytesRead))
  } finally {
    await file.close()
  }
}
