/** A turn of `exec` whose store fails. */
import { ConversationStore } from "@colloquy/core/ConversationStore"
import { MemoryStore } from "@colloquy/core/store/MemoryStore"
import { StoreError } from "@colloquy/core/StoreErrors"
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import type { ExecEvent } from "../../src/exec/ExecEvents.ts"
import { runExec } from "../../src/exec/RunExec.ts"
import { settingsWith, withCore } from "../../../server/test/support/Harness.ts"

const full = new StoreError({ operation: "append", reason: "Other", message: "the disk is full" })

/** A store in memory whose logs take this number of batches after their creation. */
const limited = (batches: number) =>
  Layer.effect(
    ConversationStore,
    Effect.gen(function* () {
      const memory = Context.get(yield* Layer.build(MemoryStore.layer), ConversationStore)
      return ConversationStore.of({
        ...memory,
        create: (meta, records) =>
          Effect.map(memory.create(meta, records), (writer) => {
            let left = batches
            return {
              ...writer,
              append: (...batch) => (left-- > 0 ? writer.append(...batch) : Effect.fail(full)),
            }
          }),
      })
    }),
  )

/** Runs a turn whose answer is streamed before it is recorded, and gives the events and how the turn ended. */
const run = (batches: number) => {
  const events: Array<ExecEvent> = []
  return Effect.map(
    withCore(
      [
        Script.reply(
          Script.bareDeltas("streamed"),
          Script.delay("1 second"),
          Script.text("streamed"),
        ),
      ],
      () =>
        runExec({
          options: {
            json: true,
            images: [],
            ephemeral: false,
            skipGitRepoCheck: true,
            color: "never",
            prompt: "hi",
          },
          sets: () => false,
          report: (some) => events.push(...some),
          started: () => undefined,
          write: () => undefined,
          input: { kind: "none", begun: Effect.void, read: Effect.succeed(new Uint8Array()) },
          hiddenPaths: [],
          stopped: Effect.never,
        }),
      undefined,
      settingsWith({}),
      limited(batches),
    ),
    (result) => ({ events, result }),
  ).pipe(Effect.raceFirst(Effect.forever(TestClock.adjust("1 second"))))
}

describe("exec whose store fails", () => {
  it.effect(
    "L5 during the turn: completes what was streamed, and reports that the turn failed",
    () =>
      Effect.gen(function* () {
        const { events, result } = yield* run(1)
        assert.deepStrictEqual(
          events.map(({ type }) => type),
          ["thread.started", "turn.started", "item.completed", "error", "turn.failed"],
        )
        assert.deepInclude(events[2], {
          item: { id: "item_0", type: "agent_message", text: "streamed" },
        })
        assert.include(result.failure ?? "", "the disk is full")
        assert.deepInclude(events.at(-1), { error: { message: result.failure ?? "" } })
      }),
  )

  it.effect("at the input: reports that the turn failed", () =>
    Effect.gen(function* () {
      const { events, result } = yield* run(0)
      assert.deepStrictEqual(
        events.map(({ type }) => type),
        ["thread.started", "error", "turn.failed"],
      )
      assert.include(result.failure ?? "", "the disk is full")
    }),
  )

  it.effect("not at all: reports that the turn completed", () =>
    Effect.gen(function* () {
      const { events, result } = yield* run(Infinity)
      assert.strictEqual(events.at(-1)?.type, "turn.completed")
      assert.strictEqual(result.failure, undefined)
    }),
  )
})
