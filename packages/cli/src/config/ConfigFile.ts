/** Reads `config.toml`. Errors name the file and the position, and never quote its text, which may contain keys. */
import * as ConfigTree from "@colloquy/config/ConfigTree"
import { readFile, UnsuitableFile } from "@colloquy/store/node/ReadFile"
import * as Result from "effect/Result"
import { join } from "node:path"

/** Largest file that is read: a hundred times the size of a long configuration. */
const maxBytes = 1024 * 1024

/** The code of a system error, such as `EACCES`. Its message is not used because it would repeat the path. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "unknown error"

const pathIn = (directory: string): string => join(directory, "config.toml")

const utf8 = new TextDecoder("utf-8", { fatal: true })

/** Why a file cannot be read, without its text. */
export const problemOf = (error: unknown): string => {
  if (error instanceof UnsuitableFile) return error.message
  return error instanceof TypeError ? "is not UTF-8" : `cannot be read (${codeOf(error)})`
}

/** The text of a file; undefined if it does not exist. */
const readText = (path: string): Result.Result<string | undefined, string> => {
  try {
    // Read synchronously, because nothing can start before it is known.
    return Result.succeed(utf8.decode(readFile(path, maxBytes)))
  } catch (error) {
    return codeOf(error) === "ENOENT" ? Result.succeed(undefined) : Result.fail(problemOf(error))
  }
}

/** A `config.toml` that was read. */
export interface ConfigFile {
  readonly path: string
  /** Empty if the file does not exist. */
  readonly text: string
  readonly tree: ConfigTree.ConfigTree
}

/**
 * Reads the file of a state directory. A missing file is an empty configuration. Fails with one line that names the file.
 *
 * @param known the last result: an unchanged text is not parsed again
 */
export const read = (directory: string, known?: ConfigFile): Result.Result<ConfigFile, string> => {
  const path = pathIn(directory)
  const at = (problem: string) => `${path}: ${problem}`
  const read = readText(path)
  if (Result.isFailure(read)) return Result.fail(at(read.failure))
  const text = read.success ?? ""
  if (known?.text === text) return Result.succeed(known)
  return Result.mapBoth(ConfigTree.parseToml(text), {
    onSuccess: (tree) => ({ path, text, tree }),
    onFailure: at,
  })
}
