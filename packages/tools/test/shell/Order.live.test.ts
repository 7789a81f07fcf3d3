import type { EventMsg, EventOf } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { hasBubblewrap } from "../support/Bubblewrap.ts"
import { textOf } from "../support/CommandOutput.ts"
import { calls } from "../support/Machine.ts"
import { stage } from "../support/Stage.ts"

const policies = {
  "in the sandbox": { mode: "workspace-write" },
  "without a sandbox": { mode: "danger-full-access" },
} as const

/** Writes the numbers up to 200 to both outputs in turn, as fast as it can. */
const script =
  "for i in $(seq 200); do if [ $((i % 2)) = 0 ]; then echo $i; else echo $i >&2; fi; done; exit 3"
const numbers = Array.from({ length: 200 }, (_, i) => `${i + 1}\n`).join("")

const deltasOf = (messages: ReadonlyArray<EventMsg>) =>
  messages
    .flatMap((msg) =>
      msg.type === "exec_command_output_delta" ? [Buffer.from(msg.chunk, "base64").toString()] : [],
    )
    .join("")

const endOf = (messages: ReadonlyArray<EventMsg>) =>
  messages.find((msg): msg is EventOf<"exec_command_end"> => msg.type === "exec_command_end")

for (const [name, sandboxPolicy] of Object.entries(policies)) {
  describe.skipIf(!hasBubblewrap)(`what a command writes to both outputs, ${name}`, () => {
    it.live("is delivered to listeners and the model in the order it was written", () =>
      Effect.gen(function* () {
        const { begin } = yield* stage()
        for (let time = 0; time < 5; time++) {
          const actor = yield* begin({
            settings: { approvalPolicy: "never", sandboxPolicy },
            responses: [[calls("shell", { command: ["bash", "-c", script] }, "a")]],
          })
          assert.deepStrictEqual((yield* actor.outputs).map(textOf), [numbers])
          assert.strictEqual(deltasOf(actor.messages), numbers)
          const { aggregated_output, exit_code, stderr, stdout } = endOf(actor.messages) ?? {}
          assert.deepStrictEqual(
            [aggregated_output, stdout, stderr, exit_code],
            [numbers, numbers, "", 3],
          )
        }
      }),
    )
  })
}
