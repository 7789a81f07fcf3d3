/**
 * How often each command ran, by the lines that it appended to its file, beside what was recorded of it.
 *
 * A command that is killed between the opening of its file and the write leaves an empty file: `strace` shows the `openat` of
 * the shell and then its end by SIGKILL, without a `write`. Therefore only a command whose end was recorded must have written.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { StoredEvent } from "./Judged.ts"

/** Name of the file to which a command appends; undefined for a command of another kind. */
const fileOf = ({ msg }: StoredEvent): string | undefined => {
  const { command, type } = msg
  if (type !== "exec_command_begin" || !Array.isArray(command)) return undefined
  return /^echo ran >> (ran-[\w-]+);/.exec(String(command.at(-1)))?.[1]
}

/** The files of the commands that ended with exit code 0, once for each of these ends. */
export const completedIn = (events: ReadonlyArray<StoredEvent>): ReadonlyArray<string> => {
  const running = new Map<string, string>()
  return events.flatMap((event) => {
    const { id, msg } = event
    const call = `${id}/${String(msg["call_id"])}`
    const begun = fileOf(event)
    if (begun !== undefined) running.set(call, begun)
    const file = running.get(call)
    return msg.type === "exec_command_end" && msg["exit_code"] === 0 && file !== undefined
      ? [file]
      : []
  })
}

const timesRun = (path: string): number =>
  existsSync(path) ? readFileSync(path, "utf8").split("\n").length - 1 : 0

/**
 * The commands that ran more often than they may, or less often than was recorded.
 *
 * @param completed the files of commands that ended with exit code 0, once for each end
 * @param maxTimes how often a command may run at most
 */
export const wrongTimes = (
  cwd: string,
  completed: ReadonlyArray<string>,
  maxTimes: number,
): ReadonlyArray<string> => {
  const files = readdirSync(cwd).filter((name) => name.startsWith("ran-"))
  return [...new Set([...files, ...completed])].flatMap((name) => {
    const times = timesRun(join(cwd, name))
    const ends = completed.filter((one) => one === name).length
    if (times > maxTimes) return [`${name}: the command ran ${times} times`]
    return times < ends ? [`${name}: the command ended ${ends} times and ran ${times} times`] : []
  })
}
