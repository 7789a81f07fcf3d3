/** Finds processes by a word of their command line, so that tests can check that no process is left (L8). */
import * as Fs from "node:fs"

let marks = 0

/** A number of seconds for which no other process sleeps. */
export const mark = (): string => `${80_000 + process.pid}.${++marks}`

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
