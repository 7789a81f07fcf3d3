/** The store of a thread fails while its clients follow a turn. */
import { assert, describe, it } from "@effect/vitest"
import * as Script from "@colloquy/testing/ProviderScript"
import * as Effect from "effect/Effect"
import { resultOf } from "../support/AppHarness.ts"
import { asking, exec, oneCall } from "../support/Asking.ts"
import type { Harness } from "../support/Harness.ts"
import { losable } from "../support/TakenOver.ts"
import { at, lines, started, told, turn, withThreads } from "../support/Threading.ts"

const hanging: Script.ProviderScript = [
  Script.reply(Script.bareDeltas("The be", "ginning"), Script.hang),
]

/** The process notices that the store fails when it records something. */
const notice = (app: Harness, threadId: string, turnId: string) =>
  Effect.andThen(app.ask("notice", "turn/interrupt", { threadId, turnId }), app.quiet)

const ends = (app: Harness) =>
  told(app, "turn/completed").map((one) => [at(one, "turn", "id"), at(one, "turn", "status")])

describe("a thread whose store fails", () => {
  it.effect(
    "L5 its turn ends at once as it will be read back, with the reason, and once only",
    () => {
      const store = losable()
      const script = [...hanging, Script.reply(Script.text("after"))]
      return withThreads({ script, store: store.layer }, (app) =>
        Effect.gen(function* () {
          const other = yield* app.another
          yield* other.ask("hello", "initialize", { clientInfo: { name: "c", version: "1" } })
          yield* other.ask("list", "thread/loaded/list", {})
          const threadId = yield* started(app)
          const turnId = yield* turn(app, threadId)
          yield* app.quiet
          const before = app.messages.length
          store.failing = true
          yield* notice(app, threadId, turnId)
          assert.deepStrictEqual(
            lines(app, before).filter((line) => !line.startsWith("answer")),
            [
              "item/completed agentMessage",
              "warning",
              "thread/status/changed idle",
              "turn/completed",
            ],
          )
          assert.include(String(at(told(app, "warning")[0], "message")), "the disk is full")
          yield* other.quiet
          assert.deepStrictEqual(at(told(other, "thread/status/changed").at(-1), "status"), {
            type: "idle",
          })
          store.failing = false
          const next = yield* turn(app, threadId, "again", {}, "again")
          yield* app.quiet
          const shown = [
            [turnId, "interrupted"],
            [next, "completed"],
          ]
          assert.deepStrictEqual(ends(app), shown)
          const ids = (method: string) => told(app, method).map((one) => at(one, "item", "id"))
          assert.deepStrictEqual(ids("item/completed"), [...new Set(ids("item/started"))])
          const read = yield* app.ask("read", "thread/read", { threadId, includeTurns: true })
          const turns = at(resultOf(read), "thread", "turns") as ReadonlyArray<unknown>
          assert.deepStrictEqual(
            turns.map((one) => [at(one, "id"), at(one, "status")]),
            shown,
          )
        }),
      )
    },
  )

  it.effect("a turn that waits for an answer does not end", () => {
    const store = losable()
    const { tools } = asking([exec])
    return withThreads({ script: oneCall, tools, store: store.layer }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        yield* turn(app, threadId)
        yield* app.quiet
        store.failing = true
        yield* app.ask("compact", "thread/compact/start", { threadId })
        yield* app.quiet
        assert.deepStrictEqual(ends(app), [])
      }),
    )
  })
})
