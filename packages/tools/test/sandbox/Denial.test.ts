import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import type { CommandResult } from "../../src/process/Command.ts"
import { looksDenied } from "../../src/sandbox/Denial.ts"

const captured = (text: string) => ({ text, totalBytes: text.length, omittedBytes: 0 })

const result = (exit: CommandResult["exit"], stderr = "", stdout = ""): CommandResult => ({
  exit,
  stdout: captured(stdout),
  stderr: captured(stderr),
  aggregated: captured(stdout + stderr),
  duration: Duration.millis(1),
})

const exited = (code: number): CommandResult["exit"] => ({ _tag: "Exited", code })

const table: ReadonlyArray<readonly [string, CommandResult, boolean]> = [
  ["a read-only place", result(exited(1), "touch: x: Read-only file system"), true],
  ["a refused call", result(exited(1), "unshare: Operation not permitted"), true],
  ["permission denied on stdout", result(exited(2), "", "PERMISSION DENIED"), true],
  ["no network", result(exited(6), "curl: (6) Could not resolve host: a"), true],
  ["a program killed by the filter", result(exited(159)), true],
  ["a shell killed by the filter", result({ _tag: "Signaled", signal: "SIGSYS" }), true],
  ["an ordinary failure", result(exited(1), "2 tests failed"), false],
  ["success that speaks of it", result(exited(0), "Operation not permitted"), false],
  ["a missing program", result(exited(127), "bash: x: Permission denied"), false],
  ["a kill", result({ _tag: "Signaled", signal: "SIGKILL" }, "permission denied"), false],
  [
    "a timeout",
    result({ _tag: "TimedOut", after: Duration.seconds(1) }, "permission denied"),
    false,
  ],
]

describe("Denial", () => {
  for (const [name, outcome, denied] of table) {
    it(`${denied ? "suspects" : "does not suspect"} the sandbox: ${name}`, () => {
      assert.strictEqual(looksDenied(outcome), denied)
    })
  }
})
