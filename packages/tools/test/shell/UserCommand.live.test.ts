/** Commands of the user on a real machine: the shell, the sandbox of the policy, and the end of everything they start. */
import type { EventMsg, EventOf } from "@colloquy/protocol/EventMsg"
import { isTerminal } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fs from "node:fs"
import { hasBubblewrap } from "../support/Bubblewrap.ts"
import { isRunning } from "../support/Census.ts"
import { perform, stage } from "../support/Stage.ts"

const confined = { approvalPolicy: "never", sandboxPolicy: { mode: "read-only" } } as const
const full = { approvalPolicy: "never", sandboxPolicy: { mode: "danger-full-access" } } as const

const endOf = (messages: ReadonlyArray<EventMsg>) =>
  messages.find((msg): msg is EventOf<"exec_command_end"> => msg.type === "exec_command_end")

const beginOf = (messages: ReadonlyArray<EventMsg>) =>
  messages.find((msg): msg is EventOf<"exec_command_begin"> => msg.type === "exec_command_begin")

describe("a command of the user", () => {
  it.live("runs in the shell that SHELL names, and the model is sent nothing", () =>
    Effect.gen(function* () {
      const options = { environment: { SHELL: "/bin/sh" } }
      const command = "echo from-user; echo $0; exit 2"
      const actor = yield* perform(options, { settings: full, responses: [], command })
      assert.deepInclude(beginOf(actor.messages), {
        command: ["/bin/sh", "-lc", command],
        source: "user_shell",
      })
      assert.deepInclude(endOf(actor.messages), {
        exit_code: 2,
        stdout: "from-user\n/bin/sh\n",
      })
      assert.lengthOf(actor.requests, 0)
      assert.strictEqual(actor.messages.filter(isTerminal).length, 1)
    }),
  )

  it.live.skipIf(!hasBubblewrap)(
    "L15 is confined by the sandbox policy, whatever asks for approval",
    () =>
      Effect.gen(function* () {
        for (const approvalPolicy of ["never", "untrusted", "on-request"] as const) {
          const actor = yield* perform(
            {},
            { settings: { ...confined, approvalPolicy }, responses: [], command: "touch made" },
          )
          assert.notStrictEqual(endOf(actor.messages)?.exit_code, 0)
          assert.isFalse(Fs.existsSync(`${actor.workspace}/made`))
        }
      }),
  )

  it.live("L15 does not run where no sandbox can be had, and says why", () =>
    Effect.gen(function* () {
      const actor = yield* perform(
        { sandboxMissing: "no bubblewrap" },
        { settings: confined, responses: [], command: "touch made" },
      )
      assert.strictEqual(endOf(actor.messages)?.exit_code, -1)
      assert.include(endOf(actor.messages)?.aggregated_output ?? "", "no bubblewrap")
      assert.isFalse(Fs.existsSync(`${actor.workspace}/made`))
    }),
  )

  it.live("L15 runs without the missing sandbox only once a person has approved that", () =>
    Effect.gen(function* () {
      for (const [decision, made] of [
        ["denied", false],
        ["approved", true],
      ] as const) {
        const actor = yield* perform(
          { sandboxMissing: "no bubblewrap" },
          {
            settings: { ...confined, approvalPolicy: "on-request" },
            responses: [],
            command: "touch made",
            answers: [decision],
          },
        )
        assert.strictEqual(Fs.existsSync(`${actor.workspace}/made`), made)
      }
    }),
  )

  it.live("L8 leaves no process after an interrupt", () =>
    Effect.gen(function* () {
      const { begin, workspace } = yield* stage()
      const command = "sleep 1000 & echo $! > pids; echo $$ >> pids; echo ready; wait"
      const actor = yield* begin({ settings: full, responses: [], command })
      yield* actor.until(({ type }) => type === "exec_command_output_delta")
      const pids = Fs.readFileSync(`${workspace}/pids`, "utf8").trim().split("\n").map(Number)
      assert.lengthOf(pids, 2)
      yield* actor.interrupt
      yield* actor.until(({ type }) => type === "turn_aborted")
      assert.deepStrictEqual(pids.filter(isRunning), [])
      assert.strictEqual(actor.messages.filter(isTerminal).length, 1)
    }),
  )
})
