/**
 * Tells from what a confined command said whether the sandbox may have stood in its way (§6.13, on-failure). A guess
 * from words, used only to ask a person whether to try again without: it never lets anything run.
 */
import type { CommandResult } from "../process/Command.ts"

/** What the system says where the sandbox refuses, and what programs make of it. Lower case. */
const words = [
  "operation not permitted",
  "permission denied",
  "read-only file system",
  "seccomp",
  "sigsys",
  "bad system call",
  "landlock",
  "failed to write file",
]

/** Also where it has no network: names that don't resolve and networks that aren't there. */
const networkWords = [
  "network is unreachable",
  "could not resolve host",
  "temporary failure in name resolution",
]

/** The shell did not find the program: no sandbox hides programs. */
const commandNotFound = 127

/** 128 and SIGSYS: how a shell tells that a filter killed its program. */
const badSystemCall = 159

/** True when a confined command failed as it would where the sandbox refused something. */
export const looksDenied = ({ exit, stderr, stdout }: CommandResult): boolean => {
  if (exit._tag === "TimedOut") return false
  if (exit._tag === "Signaled") return exit.signal === "SIGSYS"
  if (exit.code === 0 || exit.code === commandNotFound) return false
  if (exit.code === badSystemCall) return true
  const said = `${stderr.text}\n${stdout.text}`.toLowerCase()
  return [...words, ...networkWords].some((word) => said.includes(word))
}
