/** Reads `config.toml`. Errors name the file and the position, and never quote its text, which may contain keys. */
import * as ConfigTree from "@colloquy/config/ConfigTree"
import { readFile, UnsuitableFile } from "@colloquy/store/node/ReadFile"
import * as Result from "effect/Result"
import { join } from "node:path"

const { statSync } = process.getBuiltinModule("node:fs")

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

/**
 * The times of a file have a resolution: a second change within it leaves no trace in them. Two seconds are that of FAT,
 * the coarsest of a file system in use.
 */
const marginMs = 2000

/** Stands for the absence of the file. */
const missing = "missing"

/**
 * What identifies the file and the state of its content; links are followed. Undefined when it cannot be examined, and
 * when the last change is so recent that another one may leave no trace.
 */
export const stampOf = (path: string, nowMs: number): string | undefined => {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
    if (stats === undefined) return missing
    const { ctimeNs, dev, ino, mtimeNs, size } = stats
    const ageMs = nowMs - Number(ctimeNs / 1_000_000n)
    return ageMs < marginMs ? undefined : [dev, ino, size, mtimeNs, ctimeNs].join(":")
  } catch {
    // Reading the file reports why.
    return undefined
  }
}

/** A `config.toml` that was read. */
export interface ConfigFile {
  readonly path: string
  /** Empty if the file does not exist. */
  readonly text: string
  readonly tree: ConfigTree.ConfigTree
  /** State of the file before it was read; while the file has this stamp, its content is `text`. */
  readonly stamp?: string
}

/**
 * Reads the file of a state directory. A missing file is an empty configuration. Fails with one line that names the file.
 *
 * @param known the last result: an unchanged text is not parsed again
 * @param nowMs the current time: with it, an unchanged file is not read again
 */
export const read = (
  directory: string,
  known?: ConfigFile,
  nowMs?: number,
): Result.Result<ConfigFile, string> => {
  const path = pathIn(directory)
  const at = (problem: string) => `${path}: ${problem}`
  const stamp = nowMs === undefined ? undefined : stampOf(path, nowMs)
  if (stamp !== undefined && known?.stamp === stamp) return Result.succeed(known)
  const read = readText(path)
  if (Result.isFailure(read)) return Result.fail(at(read.failure))
  const text = read.success ?? ""
  // A file that appeared or vanished after the stamp was taken does not have it.
  const isStamped = stamp !== undefined && (stamp === missing) === (read.success === undefined)
  const stamped = isStamped ? { stamp } : {}
  if (known?.text === text) {
    return Result.succeed({ path, text, tree: known.tree, ...stamped })
  }
  return Result.mapBoth(ConfigTree.parseToml(text), {
    onSuccess: (tree) => ({ path, text, tree, ...stamped }),
    onFailure: at,
  })
}
