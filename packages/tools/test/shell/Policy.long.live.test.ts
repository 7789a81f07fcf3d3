import type { AskForApproval, SandboxMode } from "@colloquy/protocol/Policy"
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fs from "node:fs"
import { hasBubblewrap } from "../support/Bubblewrap.ts"
import { codeOf, textOf } from "../support/CommandOutput.ts"
import { calls } from "../support/Machine.ts"
import { perform, stage } from "../support/Stage.ts"

const policies = (approvalPolicy: AskForApproval, mode: SandboxMode = "workspace-write") =>
  ({ approvalPolicy, sandboxPolicy: { mode } }) as const

const touch = { command: ["touch", "made.txt"] }
const isMade = (workspace: string) => Fs.existsSync(`${workspace}/made.txt`)

const questions = (messages: ReadonlyArray<EventMsg>) =>
  messages.flatMap((message) => (message.type === "exec_approval_request" ? [message] : []))
const begun = (messages: ReadonlyArray<EventMsg>) =>
  messages.filter(({ type }) => type === "exec_command_begin")

const missing = "bwrap was not found"

describe("shell, on a machine that cannot confine", () => {
  for (const mode of ["read-only", "workspace-write"] as const) {
    it.live(`L15 never, ${mode}: refused, and the model reads why`, () =>
      Effect.gen(function* () {
        const { messages, outputs, workspace } = yield* perform(
          { sandboxMissing: missing },
          { settings: policies("never", mode), responses: [[calls("shell", touch, "a")]] },
        )
        assert.deepStrictEqual(outputs, [
          "exec command rejected: the sandbox is not available: bwrap was not found (install one)",
        ])
        assert.isFalse(isMade(workspace))
        assert.deepStrictEqual([questions(messages), begun(messages)], [[], []])
        assert.strictEqual(messages.at(-1)?.type, "task_complete")
      }),
    )
  }

  for (const policy of ["on-request", "on-failure"] as const) {
    for (const decision of ["approved", "denied"] as const) {
      it.live(`L15 ${policy}: asked with the reason, and ${decision}`, () =>
        Effect.gen(function* () {
          const { messages, outputs, workspace } = yield* perform(
            { sandboxMissing: missing },
            {
              settings: policies(policy),
              answers: [decision],
              responses: [[calls("shell", touch, "a")]],
            },
          )
          assert.deepStrictEqual(
            questions(messages).map(({ command, reason = "" }) => [
              command,
              reason.split("\n").at(-1),
            ]),
            [
              [
                touch.command,
                'It is asked because: "the sandbox is not available: bwrap was not found (install one)"',
              ],
            ],
          )
          assert.strictEqual(isMade(workspace), decision === "approved")
          if (decision === "approved") assert.deepStrictEqual(outputs.map(codeOf), [0])
          else assert.deepStrictEqual(outputs, ["exec command rejected by user"])
        }),
      )
    }
  }
})

describe("shell, questions", () => {
  it.live("L15 untrusted: asks before anything runs that does more than read", () =>
    Effect.gen(function* () {
      const { messages, outputs, workspace } = yield* perform(
        {},
        {
          settings: policies("untrusted"),
          answers: ["denied"],
          responses: [
            [
              calls("shell", { command: ["cat", "hello.txt"] }, "a"),
              calls("shell", { ...touch, justification: "it is needed" }, "b"),
              calls("shell", { command: ["bash", "-lc", "cat hello.txt > made.txt"] }, "c"),
            ],
          ],
        },
      )
      assert.deepStrictEqual(
        questions(messages).map(({ call_id, reason = "" }) => [call_id, reason.split("\n")[2]]),
        [
          ["b", 'The model gives this reason: "it is needed"'],
          ["c", undefined],
        ],
      )
      assert.strictEqual(textOf(outputs[0]), "hello\nworld\n")
      assert.deepStrictEqual(outputs.slice(1), [
        "exec command rejected by user",
        "exec command rejected by user",
      ])
      assert.isFalse(isMade(workspace))
    }),
  )

  for (const [policy, name] of [
    ["untrusted", "UnlessTrusted"],
    ["on-failure", "OnFailure"],
    ["never", "Never"],
  ] as const) {
    it.live(`L15 ${policy}: a command that wants out of the sandbox is refused unasked`, () =>
      Effect.gen(function* () {
        const call = { ...touch, with_escalated_permissions: true, justification: "let me" }
        const { messages, outputs, workspace } = yield* perform(
          {},
          {
            settings: policies(policy),
            answers: ["approved"],
            responses: [
              [
                calls("shell", call, "a"),
                calls("shell", { ...call, command: ["cat", "hello.txt"] }, "b"),
              ],
            ],
          },
        )
        const refusal =
          `approval policy is ${name}; reject command — ` +
          `you should not ask for escalated permissions if the approval policy is ${name}`
        assert.deepStrictEqual(outputs, [refusal, refusal])
        assert.isFalse(isMade(workspace))
        assert.deepStrictEqual([questions(messages), begun(messages)], [[], []])
      }),
    )
  }

  it.live("approved_for_session applies only to the same words in the same directory", () =>
    Effect.gen(function* () {
      const { messages } = yield* perform(
        { prepare: (ws) => Fs.mkdirSync(`${ws}/sub`) },
        {
          settings: policies("untrusted"),
          answers: ["approved_for_session", "denied"],
          responses: [
            [
              calls("shell", touch, "same"),
              calls("shell", touch, "again"),
              calls("shell", { ...touch, workdir: "." }, "spelt"),
              calls("shell", { command: ["touch", "made.txt", ""] }, "longer"),
              calls("shell", { command: ["touch made.txt"] }, "joined"),
              calls("shell", { ...touch, workdir: "sub" }, "elsewhere"),
            ],
          ],
        },
      )
      assert.deepStrictEqual(
        questions(messages).map(({ call_id }) => call_id),
        ["same", "longer", "joined", "elsewhere"],
      )
    }),
  )
})

describe("shell, without a client that can approve", () => {
  it.live("denies at once and says that no client is available", () =>
    Effect.gen(function* () {
      const { outputs, workspace } = yield* perform(
        {},
        { settings: policies("untrusted"), responses: [[calls("shell", touch, "a")]] },
      )
      assert.deepStrictEqual(outputs, [
        "exec command rejected: no client is available to approve it",
      ])
      assert.isFalse(isMade(workspace))
    }),
  )

  it.live("with `unattended` set to park, the command waits for an approval, and then runs", () =>
    Effect.gen(function* () {
      const { begin, workspace } = yield* stage()
      const actor = yield* begin({
        settings: { ...policies("untrusted"), unattended: "park" },
        responses: [[calls("shell", touch, "a")]],
      })
      yield* actor.until(({ type }) => type === "exec_approval_request")
      assert.isFalse(isMade(workspace))
      yield* actor.answer("a", "approved")
      assert.deepStrictEqual((yield* actor.outputs).map(codeOf), [0])
      assert.isTrue(isMade(workspace))
    }),
  )

  it.live.skipIf(!hasBubblewrap)("on-request: what the sandbox can confine needs no approval", () =>
    Effect.gen(function* () {
      const { outputs, workspace } = yield* perform(
        {},
        { settings: policies("on-request"), responses: [[calls("shell", touch, "a")]] },
      )
      assert.deepStrictEqual(outputs.map(codeOf), [0])
      assert.isTrue(isMade(workspace))
    }),
  )
})
