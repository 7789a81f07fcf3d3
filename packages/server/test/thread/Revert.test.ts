/** Dropping turns at the end of a thread. */
import { assert, describe, it } from "@effect/vitest"
import * as Script from "@colloquy/testing/ProviderScript"
import * as Effect from "effect/Effect"
import { errorOf, resultOf } from "../support/AppHarness.ts"
import { endless } from "../support/Endless.ts"
import type { Harness } from "../support/Harness.ts"
import { at, lines, started, told, turn, withThreads } from "../support/Threading.ts"

const answers = ["one", "two", "three"].map((text) => Script.reply(Script.text(text)))

const idsOf = (turns: unknown) =>
  (turns as ReadonlyArray<{ readonly id: string }>).map(({ id }) => id)

const turnsOf = (app: Harness, threadId: string, id: string) =>
  Effect.map(app.ask(id, "thread/read", { threadId, includeTurns: true }), (answer) =>
    idsOf(at(resultOf(answer), "thread", "turns")),
  )

describe("thread/revert", () => {
  it.effect(
    "drops a turn and all later ones; subscribers are notified, and what follows goes on",
    () =>
      withThreads({ script: answers }, (app) =>
        Effect.gen(function* () {
          const threadId = yield* started(app)
          const first = yield* turn(app, threadId, "first", {}, "first")
          yield* app.quiet
          const second = yield* turn(app, threadId, "second", {}, "second")
          yield* app.quiet
          const other = yield* app.another
          yield* other.ask("hello", "initialize", { clientInfo: { name: "other", version: "1" } })
          yield* other.ask("resume", "thread/resume", { threadId })
          const before = app.messages.length
          const reverted = yield* app.ask("revert", "thread/revert", {
            threadId,
            beforeTurnId: second,
          })
          assert.strictEqual(at(resultOf(reverted), "thread", "id"), threadId)
          yield* app.quiet
          assert.deepStrictEqual(lines(app, before).slice(1), ["thread/reverted"])
          assert.deepStrictEqual(told(other, "thread/reverted"), [{ threadId }])
          assert.deepStrictEqual(yield* turnsOf(app, threadId, "read"), [first])
          const third = yield* turn(app, threadId, "third", {}, "third")
          yield* app.quiet
          assert.deepStrictEqual(yield* turnsOf(app, threadId, "read again"), [first, third])
          const fork = yield* app.ask("fork", "thread/fork", { threadId })
          assert.deepStrictEqual(idsOf(at(resultOf(fork), "thread", "turns")), [first, third])
        }),
      ),
  )

  it.effect("keeps the queue of input, which is held", () =>
    withThreads({ script: [Script.reply(Script.hang), ...answers] }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        const running = yield* turn(app, threadId)
        yield* app.quiet
        const input = [{ type: "text", text: "queued" }]
        yield* app.ask("add", "thread/queue/add", { threadId, input })
        for (const id of ["revert", "again"]) {
          const beforeTurnId = id === "revert" ? running : "none"
          const reverted = yield* app.ask(id, "thread/revert", { threadId, beforeTurnId })
          if (id === "again") assert.include(String(errorOf(reverted).message), "none")
          else assert.strictEqual(at(resultOf(reverted), "thread", "id"), threadId)
        }
        const listed = yield* app.ask("list", "thread/queue/list", { threadId })
        assert.strictEqual(at(resultOf(listed), "data", 0, "input", 0, "text"), "queued")
        const next = yield* app.ask("next", "thread/queue/start", { threadId })
        const turnId = String(at(resultOf(next), "turn", "id"))
        yield* app.quiet
        const second = yield* turn(app, threadId, "second", {}, "second")
        yield* app.quiet
        yield* app.ask("interrupt", "turn/interrupt", { threadId, turnId: second })
        // A queue that is held does not keep turns that have ended.
        const last = yield* app.ask("last", "thread/revert", { threadId, beforeTurnId: turnId })
        assert.deepStrictEqual(idsOf(at(resultOf(last), "thread", "turns")), [])
      }),
    ),
  )

  it.effect("interrupts the running turn, whose items complete before", () =>
    withThreads(
      { script: [Script.reply(Script.toolCall("x", {}, "c"))], tools: endless().tools },
      (app) =>
        Effect.gen(function* () {
          const threadId = yield* started(app)
          const running = yield* turn(app, threadId)
          const reverted = yield* app.ask("revert", "thread/revert", {
            threadId,
            beforeTurnId: running,
          })
          assert.deepStrictEqual(at(resultOf(reverted), "thread", "status"), { type: "idle" })
          yield* app.quiet
          const ended = lines(app, 0).slice(-3)
          assert.deepStrictEqual(ended.at(-1), "thread/reverted")
          assert.deepStrictEqual(
            at(told(app, "turn/completed")[0], "turn", "status"),
            "interrupted",
          )
          assert.strictEqual(told(app, "item/started").length, told(app, "item/completed").length)
          assert.deepStrictEqual(yield* turnsOf(app, threadId, "read"), [])
        }),
    ),
  )

  it.effect("L10 input that arrives behind it starts a turn of its own", () =>
    withThreads(
      { script: [Script.reply(Script.toolCall("x", {}, "c")), ...answers], tools: endless().tools },
      (app) =>
        Effect.gen(function* () {
          const threadId = yield* started(app)
          const running = yield* turn(app, threadId)
          yield* app.quiet
          const [reverted, next] = yield* Effect.all(
            [
              app.ask("revert", "thread/revert", { threadId, beforeTurnId: running }),
              turn(app, threadId, "next", {}, "next"),
            ],
            { concurrency: "unbounded" },
          )
          assert.strictEqual(at(resultOf(reverted), "thread", "id"), threadId)
          yield* app.quiet
          assert.notStrictEqual(next, running)
          assert.deepStrictEqual(yield* turnsOf(app, threadId, "read"), [next])
          yield* app.quiet
          const ended = told(app, "turn/completed").map((params) => at(params, "turn", "id"))
          assert.deepStrictEqual(ended, [running, next])
        }),
    ),
  )

  it.effect("L10 input of a client of version 1 that arrives behind it is held back as well", () =>
    withThreads(
      { script: [Script.reply(Script.toolCall("x", {}, "c")), ...answers], tools: endless().tools },
      (app) =>
        Effect.gen(function* () {
          const threadId = yield* started(app)
          const running = yield* turn(app, threadId)
          yield* app.quiet
          const items = [{ type: "text", data: { text: "next" } }]
          const sent = { conversationId: threadId, items }
          const [reverted, next] = yield* Effect.all(
            [
              app.ask("revert", "thread/revert", { threadId, beforeTurnId: running }),
              app.ask("next", "sendUserMessage", sent),
            ],
            { concurrency: "unbounded" },
          )
          assert.strictEqual(at(resultOf(reverted), "thread", "id"), threadId)
          assert.notStrictEqual(resultOf(next)["turnId"], running)
          yield* app.quiet
          const [left, ...others] = yield* turnsOf(app, threadId, "read")
          assert.deepStrictEqual(others, [])
          const ended = told(app, "turn/completed").map(({ turn: one }) => one)
          assert.deepStrictEqual(
            ended.map((one) => [at(one, "id"), at(one, "status")]),
            [
              [running, "interrupted"],
              [left, "completed"],
            ],
          )
        }),
    ),
  )

  it.effect("an unknown turn is an error, and interrupts nothing", () =>
    withThreads(
      { script: [Script.reply(Script.toolCall("x", {}, "c"))], tools: endless().tools },
      (app) =>
        Effect.gen(function* () {
          const threadId = yield* started(app)
          yield* turn(app, threadId)
          const params = { threadId, beforeTurnId: "x" }
          assert.deepStrictEqual(errorOf(yield* app.ask("revert", "thread/revert", params)), {
            code: -32600,
            message: "turn not found: x",
          })
          yield* app.quiet
          assert.deepStrictEqual(told(app, "turn/completed"), [])
          const missing = yield* app.ask("missing", "thread/revert", { threadId })
          assert.match(String(errorOf(missing).message), /beforeTurnId/)
        }),
    ),
  )
})
