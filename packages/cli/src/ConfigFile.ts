/** Reads `config.toml`. Its errors name the file and the place and never its text, which may hold keys. */
import * as ConfigTree from "@colloquy/core/settings/ConfigTree"
import * as Result from "effect/Result"
import { readFileSync } from "node:fs"
import { join } from "node:path"

/** The code of a system error, such as `EACCES`; its message would repeat the path. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "unknown error"

/** The tree of `config.toml` in a directory; a missing file is an empty tree (§7.1). */
export const read = (directory: string): Result.Result<ConfigTree.ConfigTree, string> => {
  const path = join(directory, "config.toml")
  let text: string
  try {
    // Blocking, since nothing can begin before it is known.
    text = readFileSync(path, "utf8")
  } catch (error) {
    const code = codeOf(error)
    return code === "ENOENT"
      ? Result.succeed(ConfigTree.empty)
      : Result.fail(`${path}: cannot be read (${code})`)
  }
  return Result.mapError(ConfigTree.parseToml(text), (problem) => `${path}: ${problem}`)
}
