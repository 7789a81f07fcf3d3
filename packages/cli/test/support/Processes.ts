/** Lists processes that are not children of the tests, from `/proc` where it exists and otherwise from `ps`. */
import { execFileSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"

interface Row {
  readonly pid: number
  readonly parent: number
  readonly state: string
}

/** `pid (name) state parent …`; the name may hold anything, parentheses included. */
const fromProc = (pid: string): ReadonlyArray<Row> => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    return [{ pid: Number(pid), parent: Number(parent), state: state ?? "" }]
  } catch {
    // The process ended between the listing and the reading.
    return []
  }
}

const fromPs = (): ReadonlyArray<Row> =>
  execFileSync("ps", ["-A", "-o", "pid=,ppid=,stat="], { encoding: "utf8" })
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .map(([pid, parent, state]) => ({
      pid: Number(pid),
      parent: Number(parent),
      state: state ?? "",
    }))

const rows = (): ReadonlyArray<Row> => {
  const all = existsSync("/proc/self/stat")
    ? readdirSync("/proc")
        .filter((name) => /^\d+$/.test(name))
        .flatMap(fromProc)
    : fromPs()
  // A zombie has ended, whether or not its parent has collected it.
  return all.filter(({ state }) => state !== "" && !state.startsWith("Z"))
}

export const isRunning = (pid: number): boolean => rows().some((row) => row.pid === pid)

export const childrenOf = (parent: number): ReadonlyArray<number> =>
  rows().flatMap((row) => (row.parent === parent ? [row.pid] : []))

/**
 * All descendants of this process. A process with an exited parent is not found, so callers must take the list before
 * the parent exits and keep it.
 */
export const descendantsOf = (root: number): ReadonlyArray<number> => {
  const all = rows()
  const found = new Set([root])
  for (let before = 0; before < found.size;) {
    before = found.size
    for (const { parent, pid } of all) if (found.has(parent)) found.add(pid)
  }
  return [...found].filter((pid) => pid !== root)
}

let marks = 0

/** A number of seconds, as text, that no other command sleeps for: it identifies the command's process. */
export const mark = (): string => `${90_000 + process.pid}.${++marks}`

/** Ids of the processes with this word in their command line; Linux only. */
export const runningWith = (word: string): ReadonlyArray<number> =>
  rows().flatMap(({ pid }) => {
    try {
      const isOurs = pid === process.pid
      return !isOurs && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(word) ? [pid] : []
    } catch {
      return []
    }
  })

/** Ids of the processes that have this directory as `HOME`, which child processes inherit; Linux only. */
export const runningIn = (home: string): ReadonlyArray<number> =>
  rows().flatMap(({ pid }) => {
    try {
      const variables = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0")
      return pid !== process.pid && variables.includes(`HOME=${home}`) ? [pid] : []
    } catch {
      // The process ended after it was listed, or belongs to another user.
      return []
    }
  })

/**
 * Waits until none of these processes runs and no command line has the word. Resolves with the processes that are left
 * after a few seconds.
 */
export const awaitGone = async (
  pids: ReadonlyArray<number>,
  word: string,
): Promise<ReadonlyArray<number>> => {
  const left = () => [...pids.filter(isRunning), ...runningWith(word)]
  for (let tries = 0; tries < 60 && left().length > 0; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return left()
}
