/** Memory and processor time of a process and everything it started, from `/proc`; both are 0 on systems without it. */
import { readFileSync, readdirSync } from "node:fs"

/** What a tree of processes uses. */
export interface Usage {
  readonly residentBytes: number
  /** User and system time of all processes, including ended children. */
  readonly processorMs: number
}

/** Clock ticks per second in `/proc`, on Linux always 100. */
const ticksPerSecond = 100

const read = (path: string): string => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    // The process or the thread has ended since its parent was read.
    return ""
  }
}

const threadsOf = (pid: number): ReadonlyArray<string> => {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

const childrenOf = (pid: number): ReadonlyArray<number> =>
  threadsOf(pid).flatMap((thread) =>
    read(`/proc/${pid}/task/${thread}/children`).split(" ").filter(Boolean).map(Number),
  )

/** Adds up the process and all its descendants. */
export const usageOf = (pid: number): Usage => {
  const status = /^VmRSS:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`))
  const stat = read(`/proc/${pid}/stat`)
  // `pid (name) state …`: after the name, fields 11 to 14 are the times of the process and of its ended children.
  const ticks = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(11, 15)
    .reduce((sum, field) => sum + Number(field), 0)
  const own = {
    residentBytes: Number(status?.[1] ?? 0) * 1024,
    processorMs: (ticks / ticksPerSecond) * 1000,
  }
  return childrenOf(pid)
    .map(usageOf)
    .reduce(
      (sum, usage) => ({
        residentBytes: sum.residentBytes + usage.residentBytes,
        processorMs: sum.processorMs + usage.processorMs,
      }),
      own,
    )
}
