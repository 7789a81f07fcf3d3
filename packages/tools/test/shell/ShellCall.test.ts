import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { fromArguments, fromLocalShell } from "../../src/shell/ShellCall.ts"

describe("ShellCall", () => {
  it("accepts a command word by word, with all optional arguments", () => {
    assert.deepStrictEqual(
      fromArguments({
        command: ["touch", "a b"],
        workdir: "sub",
        timeout_ms: 500,
        with_escalated_permissions: true,
        justification: "it must",
      }),
      Result.succeed({
        command: ["touch", "a b"],
        workdir: "sub",
        timeoutMs: 500,
        escalated: true,
        justification: "it must",
      }),
    )
  })

  it.each([
    [{ command: [] }, "`command` is empty, expected a program and its arguments (field `command`)"],
    [
      { command: [""] },
      "`command` is empty, expected a program and its arguments (field `command`)",
    ],
    [
      { command: ["echo", "a\0b"] },
      "a word contains a NUL byte, which no program can be given (field `command`)",
    ],
    [
      { command: ["ls"], workdir: "/tmp\0" },
      "a word contains a NUL byte, which no program can be given (field `command`)",
    ],
    [
      { command: ["ls"], timeout_ms: -1 },
      "`timeout_ms` is -1, expected a number above 0 and up to 86400000 (field `timeout_ms`)",
    ],
    [
      { command: ["ls"], timeout_ms: 1e12 },
      "`timeout_ms` is 1000000000000, expected a number above 0 and up to 86400000 (field `timeout_ms`)",
    ],
  ])("refuses %j", (args, fault) => {
    assert.deepStrictEqual(
      fromArguments(args),
      Result.fail(`failed to parse function arguments: ${fault}`),
    )
  })

  it("reads the call of a provider's shell and ignores its environment and user", () => {
    assert.deepStrictEqual(
      fromLocalShell({
        type: "local_shell_call",
        call_id: "c",
        status: "completed",
        action: {
          type: "exec",
          command: ["ls"],
          timeout_ms: 100,
          working_directory: "/tmp",
          env: { PATH: "/evil" },
          user: "root",
        },
      }),
      Result.succeed({ command: ["ls"], workdir: "/tmp", timeoutMs: 100, escalated: false }),
    )
  })
})
