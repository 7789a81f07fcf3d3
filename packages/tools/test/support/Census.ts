/** Finds processes by a word of their command line, so that tests can check that no process is left (L8). */
import * as Fs from "node:fs"

let marks = 0

/** A number of seconds for which no other process sleeps. */
export const mark = (): string => `${80_000 + process.pid}.${++marks}`

/** False for a process that has ended, also where the process that adopted it has not waited for it yet. */
export const isRunning = (pid: number): boolean => {
  try {
    // Without `/proc` the system counts a process that was not waited for as running.
    if (!Fs.existsSync("/proc/self/stat")) return process.kill(pid, 0)
    return !/\) [XZ] /.test(Fs.readFileSync(`/proc/${pid}/stat`, "utf8"))
  } catch {
    return false
  }
}

/** Processes with the word in their command line; zombies have none. */
export const alive = (word: string): ReadonlyArray<string> =>
  Fs.readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .filter((pid) => {
      try {
        return Fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(word)
      } catch {
        return false
      }
    })
