/**
 * Two questions to the file system that every confined command asks, and the PATH of this process: a platform edge over
 * Node's own. `effect/FileSystem`
 * removes directories either with all they hold or not at all, and a process per directory costs a command as much as
 * a third of bubblewrap; and its `realPath` asks once for each part of a path where the system can do it in one call.
 */
import * as Effect from "effect/Effect"
import { rmdirSync } from "node:fs"
import * as FS from "node:fs/promises"

/** The path without links; undefined where that cannot be told, because nothing is there or for any other reason. */
export const realPath = (path: string): Effect.Effect<string | undefined> =>
  Effect.promise(() => FS.realpath(path).catch(() => undefined))

/**
 * Leaves alone what holds something, is no directory, or is not ours to remove. Follows no link in the last part. Not
 * asynchronous: for directories just made on a file system that answers, where waiting for a thread costs a command more
 * than the call.
 */
export const removeIfEmpty = (directory: string): Effect.Effect<void> =>
  Effect.sync(() => {
    try {
      rmdirSync(directory)
    } catch {
      // It stays: others use it, or a person does now.
    }
  })

/**
 * Calls a library with the PATH of this process cut down to the directories of the system, and restores it. For one that
 * starts programs by their names while it is called and takes no environment.
 */
export const withSystemPath = <A>(call: () => A): A => {
  const { PATH } = process.env
  process.env["PATH"] = "/usr/bin:/bin:/usr/sbin:/sbin"
  try {
    return call()
  } finally {
    if (PATH === undefined) delete process.env["PATH"]
    else process.env["PATH"] = PATH
  }
}
