/** What the operating system says about the processes that hold leases. */
import { defined } from "@colloquy/protocol/Defined"
import { readFileSync, readlinkSync } from "node:fs"
import { hostname } from "node:os"
import type { HolderProcess, Processes } from "../internal/Holder.ts"

const orNothing = (read: () => string): string => {
  try {
    return read().trim()
  } catch {
    return ""
  }
}

/** The name of a container may be that of another one, and a pid means nothing outside of its namespace and boot. */
const machineOf = (): string =>
  [
    hostname(),
    orNothing(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8")),
    orNothing(() => readlinkSync("/proc/self/ns/pid")),
  ].join(" ")

const isGone = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ESRCH"
  }
}

/**
 * The processes of this machine.
 *
 * @param url base address of the plain API of this process, looked up at every renewal; default: none
 */
export const make = (url: () => string | undefined = () => undefined): Processes => {
  const machine = machineOf()
  return {
    own: (): HolderProcess => ({
      pid: process.pid,
      host: hostname(),
      machine,
      ...defined({ url: url() }),
    }),
    isEnded: ({ machine: other, pid }) => other === machine && pid !== undefined && isGone(pid),
  }
}
