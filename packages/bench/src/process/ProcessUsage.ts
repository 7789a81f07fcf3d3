/** Memory and processor time of one process, from `/proc`; undefined on systems without it. */
import { readdirSync, readFileSync } from "node:fs"

/** Resident memory in bytes. */
export const residentBytes = (pid: number | undefined): number | undefined => {
  try {
    const found = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))
    return found === null ? undefined : Number(found[1]) * 1024
  } catch {
    return undefined
  }
}

/** Clock ticks per second in `/proc`, on Linux always 100. */
const ticksPerSecond = 100

const inTicks = (pid: number): number | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    // `pid (name) state …`: user and system time are the twelfth and thirteenth fields after the name.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    return ((Number(fields[11]) + Number(fields[12])) / ticksPerSecond) * 1000
  } catch {
    return undefined
  }
}

/**
 * Processor time of all threads so far: exact where the kernel keeps statistics of its scheduler, else in steps of 10 ms. A
 * thread that has ended is not counted in the first case; Node keeps its threads until the process ends.
 */
export const processorMs = (pid: number | undefined): number | undefined => {
  if (pid === undefined) return undefined
  try {
    return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => {
      // `nanoseconds on a processor, nanoseconds waiting, number of slices`
      const [ranNs] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")
      return sum + Number(ranNs) / 1e6
    }, 0)
  } catch {
    return inTicks(pid)
  }
}
