/**
 * Estimates from the output of a confined command whether the sandbox denied it something (for the approval policy
 * `on-failure`). The estimate only decides whether a person is asked to run it again without sandbox: it never lets
 * anything run.
 */
import type { CommandResult } from "../process/Command.ts"

/** Error texts of the system where the sandbox denies something, and what programs make of them. Lower case. */
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

/** Error texts where there is no network: names that do not resolve and networks that are absent. */
const networkWords = [
  "network is unreachable",
  "could not resolve host",
  "temporary failure in name resolution",
]

/** The shell did not find the program; no sandbox hides programs. */
const commandNotFound = 127

/** 128 plus SIGSYS: the exit code of a shell whose program was killed by a system call filter. */
const badSystemCall = 159

/** True when a confined command failed as it would if the sandbox had denied something. */
export const looksDenied = ({ exit, stderr, stdout }: CommandResult): boolean => {
  if (exit._tag === "TimedOut") return false
  if (exit._tag === "Signaled") return exit.signal === "SIGSYS"
  if (exit.code === 0 || exit.code === commandNotFound) return false
  if (exit.code === badSystemCall) return true
  const output = `${stderr.text}\n${stdout.text}`.toLowerCase()
  return [...words, ...networkWords].some((word) => output.includes(word))
}
