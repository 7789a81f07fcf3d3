/** What the system says of processes that are not children of the tests. Asks `ps`, which every platform here has. */
import { execFileSync } from "node:child_process"

interface Row {
  readonly pid: number
  readonly parent: number
  readonly state: string
}

const rows = (): ReadonlyArray<Row> =>
  execFileSync("ps", ["-A", "-o", "pid=,ppid=,stat="], { encoding: "utf8" })
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .map(([pid, parent, state]) => ({
      pid: Number(pid),
      parent: Number(parent),
      state: state ?? "",
    }))
    // A zombie has ended; whether its parent has looked is not its affair.
    .filter(({ state }) => state !== "" && !state.startsWith("Z"))

export const isRunning = (pid: number): boolean => rows().some((row) => row.pid === pid)

export const childrenOf = (parent: number): ReadonlyArray<number> =>
  rows().flatMap((row) => (row.parent === parent ? [row.pid] : []))
