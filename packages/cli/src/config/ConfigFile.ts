/** Reads `config.toml`. Its errors name the file and the place and never its text, which may hold keys. */
import * as ConfigTree from "@colloquy/config/ConfigTree"
import { readFile, UnsuitableFile } from "@colloquy/store/node/ReadFile"
import * as Result from "effect/Result"
import { join } from "node:path"

/** Some hundred times what people write; a larger file is something else. */
const maxBytes = 1024 * 1024

/** The code of a system error, such as `EACCES`; its message would repeat the path. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "unknown error"

const pathIn = (directory: string): string => join(directory, "config.toml")

const utf8 = new TextDecoder("utf-8", { fatal: true })

/** What keeps a file from being read, without its text. */
export const problemOf = (error: unknown): string => {
  if (error instanceof UnsuitableFile) return error.message
  return error instanceof TypeError ? "is not UTF-8" : `cannot be read (${codeOf(error)})`
}

/** The text of a file that may be missing: then undefined. */
const readText = (path: string): Result.Result<string | undefined, string> => {
  try {
    // Blocking, since nothing can begin before it is known.
    return Result.succeed(utf8.decode(readFile(path, maxBytes)))
  } catch (error) {
    return codeOf(error) === "ENOENT" ? Result.succeed(undefined) : Result.fail(problemOf(error))
  }
}

export interface ConfigFile {
  readonly path: string
  /** Empty for a missing file. */
  readonly text: string
  readonly tree: ConfigTree.ConfigTree
}

/** A missing file is an empty tree (§7.1). `known` is what was read last: the same text is not read twice. */
export const read = (directory: string, known?: ConfigFile): Result.Result<ConfigFile, string> => {
  const path = pathIn(directory)
  const told = (problem: string) => `${path}: ${problem}`
  const read = readText(path)
  if (Result.isFailure(read)) return Result.fail(told(read.failure))
  const text = read.success ?? ""
  if (known?.text === text) return Result.succeed(known)
  return Result.mapBoth(ConfigTree.parseToml(text), {
    onSuccess: (tree) => ({ path, text, tree }),
    onFailure: told,
  })
}
