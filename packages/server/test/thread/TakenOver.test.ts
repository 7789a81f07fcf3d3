/** Another process takes a conversation over while clients of this one follow it (L16). */
import { assert, describe, it } from "@effect/vitest"
import * as Script from "@colloquy/testing/ProviderScript"
import * as Effect from "effect/Effect"
import { asking, exec, oneCall } from "../support/Asking.ts"
import { created, listening, resultOf, say, withApp } from "../support/AppHarness.ts"
import type { Harness } from "../support/Harness.ts"
import { command } from "../support/RunningCommands.ts"
import { losable } from "../support/TakenOver.ts"
import { asked, at, lines, started, told, turn, withThreads } from "../support/Threading.ts"

const hanging: Script.ProviderScript = [
  Script.reply(Script.bareDeltas("The be", "ginning"), Script.hang),
]

const ids = (app: Harness, method: string) =>
  told(app, method).map((one) => String(at(one, "item", "id")))

/** The process notices that it has lost the lease when it records something. */
const notice = (app: Harness, threadId: string, turnId: string) =>
  Effect.andThen(app.ask("notice", "turn/interrupt", { threadId, turnId }), app.quiet)

describe("L16 a conversation that another process has taken over", () => {
  it.effect(
    "L5 its turn is interrupted with the reason, its items complete, and its thread is closed",
    () => {
      const store = losable()
      return withThreads({ script: hanging, store: store.layer }, (app) =>
        Effect.gen(function* () {
          const threadId = yield* started(app)
          const turnId = yield* turn(app, threadId)
          yield* app.quiet
          const before = app.messages.length
          store.lost = true
          yield* notice(app, threadId, turnId)
          assert.deepStrictEqual(
            lines(app, before).filter((line) => !line.startsWith("answer")),
            [
              "item/completed agentMessage",
              "warning",
              "thread/status/changed idle",
              "turn/completed",
              "thread/status/changed notLoaded",
              "thread/closed",
            ],
          )
          assert.deepStrictEqual(ids(app, "item/completed"), ids(app, "item/started"))
          const [ended] = told(app, "turn/completed")
          assert.strictEqual(at(ended, "turn", "id"), turnId)
          assert.strictEqual(at(ended, "turn", "status"), "interrupted")
          const [warning] = told(app, "warning")
          assert.include(String(at(warning, "message")), "was taken over by another writer")
          const loaded = yield* app.ask("loaded", "thread/loaded/list", {})
          assert.deepStrictEqual(at(resultOf(loaded), "data"), [])
        }),
      )
    },
  )

  it.effect("a command that runs completes", () => {
    const store = losable()
    const tools = command(["half"], {})
    const script = [Script.reply(Script.toolCall("run", {}, "c"))]
    return withThreads({ script, tools, store: store.layer }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        const turnId = yield* turn(app, threadId)
        yield* app.quiet
        store.lost = true
        yield* notice(app, threadId, turnId)
        assert.deepStrictEqual(ids(app, "item/completed"), ids(app, "item/started"))
        const items = told(app, "item/completed").map((one) => at(one, "item", "type"))
        assert.include(items, "commandExecution")
        assert.lengthOf(told(app, "turn/completed"), 1)
        assert.deepStrictEqual(told(app, "thread/closed"), [{ threadId }])
      }),
    )
  })

  it.effect("its question is resolved, and an answer that comes too late harms nothing", () => {
    const store = losable()
    const { tools } = asking([exec])
    return withThreads({ script: oneCall, tools, store: store.layer }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        const turnId = yield* turn(app, threadId)
        yield* app.quiet
        const { id } = asked(app, "item/commandExecution/requestApproval")
        store.lost = true
        yield* notice(app, threadId, turnId)
        yield* app.send({ id, result: { decision: "accept" } })
        yield* app.quiet
        assert.deepStrictEqual(told(app, "serverRequest/resolved"), [{ threadId, requestId: id }])
        assert.deepStrictEqual(told(app, "thread/closed"), [{ threadId }])
      }),
    )
  })

  it.effect("every connection is told once, subscribed or not", () => {
    const store = losable()
    return withThreads({ script: hanging, store: store.layer }, (app) =>
      Effect.gen(function* () {
        const [follower, other] = [yield* app.another, yield* app.another]
        for (const client of [follower, other]) {
          yield* client.ask("hello", "initialize", { clientInfo: { name: "c", version: "1" } })
          yield* client.ask("list", "thread/loaded/list", {})
        }
        const threadId = yield* started(app)
        const turnId = yield* turn(app, threadId)
        yield* app.quiet
        yield* follower.ask("resume", "thread/resume", { threadId })
        store.lost = true
        yield* notice(app, threadId, turnId)
        yield* other.quiet
        const counts = [app, follower, other].map((client) => [
          told(client, "turn/completed").length,
          told(client, "thread/closed").length,
          told(client, "thread/status/changed").filter(
            (one) => at(one, "status", "type") === "notLoaded",
          ).length,
        ])
        assert.deepStrictEqual(counts, [
          [1, 1, 1],
          [1, 1, 1],
          [0, 0, 1],
        ])
      }),
    )
  })

  it.effect("a client that resumes it once it is free is sent its turns again", () => {
    const store = losable()
    const script = [...hanging, Script.reply(Script.text("after"))]
    return withThreads({ script, store: store.layer }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        const turnId = yield* turn(app, threadId)
        yield* app.quiet
        store.lost = true
        yield* notice(app, threadId, turnId)
        const refused = yield* app.ask("no", "turn/start", {
          threadId,
          input: [{ type: "text", text: "x" }],
        })
        assert.strictEqual(at(refused.error, "data", "reason"), "in_use")
        store.lost = false
        resultOf(yield* app.ask("resume", "thread/resume", { threadId }))
        const next = yield* turn(app, threadId, "again", {}, "again")
        yield* app.quiet
        const ended = told(app, "turn/completed").map((one) => [
          at(one, "turn", "id"),
          at(one, "turn", "status"),
        ])
        assert.deepStrictEqual(ended, [
          [turnId, "interrupted"],
          [next, "completed"],
        ])
        const read = yield* app.ask("read", "thread/read", { threadId, includeTurns: true })
        assert.deepStrictEqual(
          [0, 1].map((n) => at(resultOf(read), "thread", "turns", n, "status")),
          ["interrupted", "completed"],
        )
      }),
    )
  })

  it.effect("a listener of the first version is told that it is closed, and why", () => {
    const store = losable()
    return withApp({ script: hanging, store: store.layer }, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app)
        const subscriptionId = yield* listening(app, conversationId)
        yield* say(app, conversationId, "hello")
        yield* app.quiet
        store.lost = true
        yield* say(app, conversationId, "more", {}, "more")
        yield* app.quiet
        const closed = told(app, "conversationClosed")
        assert.lengthOf(closed, 1)
        assert.strictEqual(at(closed[0], "subscriptionId"), subscriptionId)
        assert.include(String(at(closed[0], "reason")), "was taken over by another writer")
      }),
    )
  })
})
