import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { hasBubblewrap } from "../support/Bubblewrap.ts"
import { alive, mark } from "../support/Census.ts"
import { codeOf, textOf } from "../support/CommandOutput.ts"
import { canMark, leaving } from "../support/Leaving.ts"
import { calls } from "../support/Machine.ts"
import { perform, stage } from "../support/Stage.ts"

const inTheSandbox = {
  approvalPolicy: "never",
  sandboxPolicy: { mode: "workspace-write" },
} as const

const bash = (script: string, more: object = {}) =>
  calls("shell", { command: ["bash", "-c", script], ...more }, "a")

const inTheOpen = {
  approvalPolicy: "never",
  sandboxPolicy: { mode: "danger-full-access" },
} as const

describe.skipIf(!canMark)("commands that leave processes behind, without a sandbox", () => {
  for (const [name, leave] of Object.entries(leaving)) {
    it.live(`L8 under danger-full-access nothing is left after the turn: ${name}`, () =>
      Effect.gen(function* () {
        const seconds = mark()
        const { outputs } = yield* perform(
          {},
          { settings: inTheOpen, responses: [[bash(`${leave(seconds)}\nsleep 0.2; echo left`)]] },
        )
        assert.strictEqual(textOf(outputs[0]), "left\n")
        assert.deepStrictEqual(alive(seconds), [])
      }),
    )
  }

  it.live("L8 nothing is left of a turn that is interrupted", () =>
    Effect.gen(function* () {
      const seconds = mark()
      const { begin } = yield* stage()
      const script = `setsid -f sleep ${seconds} >/dev/null 2>&1; echo begun; sleep ${seconds}`
      const actor = yield* begin({
        settings: inTheOpen,
        responses: [[bash(script, { timeout_ms: 60_000 })]],
      })
      yield* actor.until(({ type }) => type === "exec_command_output_delta")
      assert.isNotEmpty(alive(seconds))
      yield* actor.interrupt
      yield* actor.until(({ type }) => type === "turn_aborted")
      assert.deepStrictEqual(alive(seconds), [])
    }),
  )

  it.live("L8 nothing is left of a command that was approved to run without the sandbox", () =>
    Effect.gen(function* () {
      const seconds = mark()
      const script = `setsid -f sleep ${seconds} >/dev/null 2>&1; echo left`
      const { asked, outputs } = yield* perform(
        {},
        {
          settings: { approvalPolicy: "on-request", sandboxPolicy: { mode: "workspace-write" } },
          responses: [
            [bash(script, { with_escalated_permissions: true, justification: "a test" })],
          ],
          answers: ["approved"],
        },
      ).pipe(
        Effect.map((actor) => ({
          ...actor,
          asked: actor.messages.filter(({ type }) => type === "exec_approval_request"),
        })),
      )
      assert.lengthOf(asked, 1)
      assert.strictEqual(textOf(outputs[0]), "left\n")
      assert.deepStrictEqual(alive(seconds), [])
    }),
  )
})

describe.skipIf(!hasBubblewrap)("commands that try to stay, in the sandbox", () => {
  it.live("L8 children in separate sessions end with their command", () =>
    Effect.gen(function* () {
      const seconds = mark()
      const script = `for i in 1 2 3; do setsid -f sleep ${seconds} >/dev/null 2>&1; done; echo left`
      const { outputs } = yield* perform(
        {},
        { settings: inTheSandbox, responses: [[bash(script)]] },
      )
      assert.strictEqual(textOf(outputs[0]), "left\n")
      assert.deepStrictEqual(alive(seconds), [])
    }),
  )

  it.live("L8 a growing tree of processes is killed completely, while other commands run", () =>
    Effect.gen(function* () {
      const word = `bomb-${mark()}`
      // Each process starts two more, to a depth of six: a fork bomb with an end.
      const script = `f() { [ "$1" -gt 0 ] && { f $(($1-1)) & f $(($1-1)) & }; exec -a ${word} sleep 600; }; echo lit; setsid -f true; f 6`
      const { begin } = yield* stage()
      const bomb = yield* begin({
        settings: inTheSandbox,
        responses: [[bash(script, { timeout_ms: 1500 })]],
      })
      yield* bomb.until(({ type }) => type === "exec_command_output_delta")
      const other = yield* begin({
        settings: inTheSandbox,
        responses: [[bash("echo still here")]],
      })
      assert.deepStrictEqual((yield* other.outputs).map(textOf), ["still here\n"])
      assert.deepStrictEqual((yield* bomb.outputs).map(codeOf), [124])
      assert.deepStrictEqual(alive(word), [])
    }),
  )
})
