import { SettingsResolver } from "@colloquy/core/ConversationSettings"
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import { protocolVersions } from "@colloquy/protocol/mcp/Initialize"
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import {
  asking,
  elicitations,
  exec,
  oneCall,
  questionId,
  result,
  withdrawn,
} from "../../support/Asking.ts"
import {
  cancelled,
  defaultAnswer,
  defaultReply,
  type Harness,
  listed,
  settingsWith,
  toolCall,
  withServer,
} from "../../support/Harness.ts"
import { callResult, textOf, threadOf, typesOf } from "../../support/Wire.ts"

const script = Script.byLastUserText([
  ["hang", Script.reply(Script.bareDeltas("par"), Script.hang)],
  ["second", Script.reply(Script.text("second answer"))],
  ["third", Script.reply(Script.text("third answer"))],
  ["", defaultReply],
])

const responses = ({ messages }: Harness, id: unknown) =>
  messages.filter((message) => message.method === undefined && message.id === id)

const initialize = (id: unknown, protocolVersion: string) => ({
  jsonrpc: "2.0",
  id,
  method: "initialize",
  params: {
    protocolVersion,
    capabilities: { elicitation: {} },
    clientInfo: { name: "test", version: "1" },
  },
})

const threadIn = (server: Harness) =>
  Effect.map(listed(server.manager), (ids) => ids.at(0) ?? assert.fail("no conversation"))

/** In every revision a receiver should not respond to a cancelled request. `none`: before any handshake. */
const revisions = [...protocolVersions, "none"]

describe("notifications/cancelled: whether the call is answered", () => {
  it.effect.each(revisions)(
    "L1 in revision %s it gets none; the end of the turn is still delivered",
    (v) =>
      withServer({ script }, (server) =>
        Effect.gen(function* () {
          if (v !== "none") yield* server.send(initialize("i", v))
          yield* server.send(toolCall(2, "codex", { prompt: "hang" }))
          yield* server.quiet
          yield* server.send(cancelled(2))
          yield* server.quiet
          assert.strictEqual(typesOf(server.messages, 2).at(-1), "turn_aborted")
          yield* TestClock.adjust("1 hour")
          yield* server.connection.close
          yield* server.quiet
          assert.deepStrictEqual(responses(server, 2), [])
        }),
      ),
  )

  it.effect.each(revisions)(
    "L1 in revision %s a call that was not cancelled is answered when its turn is interrupted",
    (v) =>
      withServer({ script }, (server) =>
        Effect.gen(function* () {
          if (v !== "none") yield* server.send(initialize("i", v))
          yield* server.send(toolCall(2, "codex", { prompt: "hang" }))
          yield* server.quiet
          const conversation = yield* Effect.orDie(server.manager.get(yield* threadIn(server)))
          yield* Effect.orDie(conversation.submit({ type: "interrupt" }))
          const answer = yield* server.response(2)
          assert.deepStrictEqual(
            [textOf(answer), callResult(answer).isError],
            ["Turn interrupted", true],
          )
        }),
      ),
  )
})

describe("notifications/cancelled: when it arrives", () => {
  it.effect("while the settings are being read: no conversation, no request to the model", () =>
    Effect.gen(function* () {
      const reading = yield* Latch.make(false)
      const slow = Layer.effect(
        SettingsResolver,
        Effect.map(SettingsResolver, ({ resolve }) => ({
          resolve: (overrides) => Effect.andThen(reading.await, resolve(overrides)),
        })),
      )
      yield* withServer({ script, settings: Layer.provide(slow, settingsWith({})) }, (server) =>
        Effect.gen(function* () {
          yield* server.send(toolCall(2, "codex", { prompt: "x" }))
          yield* server.quiet
          yield* server.send(cancelled(2))
          yield* server.quiet
          yield* reading.open
          yield* server.quiet
          assert.deepStrictEqual(yield* listed(server.manager), [])
          assert.deepStrictEqual(yield* server.provider.requests, [])
          assert.deepStrictEqual(server.texts, [])
          assert.strictEqual(textOf(yield* server.call(2, "codex", { prompt: "x" })), defaultAnswer)
        }),
      )
    }),
  )

  it.effect(
    "0.45 and 0.153 mixed up responses: each later call gets its own, the cancelled one none",
    () =>
      withServer({ script }, (server) =>
        Effect.gen(function* () {
          yield* server.send(toolCall(2, "codex", { prompt: "hang" }))
          yield* server.quiet
          const threadId = yield* threadIn(server)
          const reply = (id: number, prompt: string) =>
            toolCall(id, "codex-reply", { threadId, prompt })
          yield* server.send(cancelled(2), reply(3, "second"), reply(4, "third"))
          assert.deepStrictEqual(
            [textOf(yield* server.response(3)), textOf(yield* server.response(4))],
            ["second answer", "third answer"],
          )
          yield* server.quiet
          assert.deepStrictEqual(
            [2, 3, 4].map((id) => responses(server, id).length),
            [0, 1, 1],
          )
          assert.notInclude(typesOf(server.messages, 2), "task_complete")
        }),
      ),
  )

  it.effect("of a call that waits for its turn, twice and in one batch: the next one runs", () =>
    withServer({ script }, (server) =>
      Effect.gen(function* () {
        yield* server.send(toolCall(2, "codex", { prompt: "hang" }))
        yield* server.quiet
        const threadId = yield* threadIn(server)
        const reply = (id: number, prompt: string) =>
          toolCall(id, "codex-reply", { threadId, prompt })
        yield* server.send(reply(3, "second"), cancelled(3), cancelled(3), reply(4, "third"))
        yield* server.quiet
        yield* server.send(cancelled(2))
        assert.strictEqual(textOf(yield* server.response(4)), "third answer")
        assert.deepStrictEqual([responses(server, 2), responses(server, 3)], [[], []])
        assert.strictEqual((yield* server.provider.requests).length, 2)
      }),
    ),
  )

  it.effect("of an initialize whose response waits for a slow client: it is answered", () =>
    withServer({ script, capacity: 1 }, (server) =>
      Effect.gen(function* () {
        const pings = Array.from({ length: 20 }, (_, id) => ({
          jsonrpc: "2.0",
          id,
          method: "ping",
        }))
        yield* server.send(...pings, initialize("i", "2025-11-25"), cancelled("i"))
        const answer = yield* server.response("i")
        assert.strictEqual(answer.result?.["protocolVersion"], "2025-11-25")
      }),
    ),
  )

  it.effect("of another connection's request is ignored", () =>
    withServer({ script }, (server) =>
      Effect.gen(function* () {
        const other = yield* server.another
        yield* server.send(toolCall(2, "codex", { prompt: "hang" }))
        yield* other.send(toolCall(2, "codex", { prompt: "hang" }))
        yield* server.quiet
        yield* other.send(cancelled(2))
        yield* server.quiet
        assert.notInclude(typesOf(server.messages, 2), "turn_aborted")
        assert.include(typesOf(other.messages, 2), "turn_aborted")
      }),
    ),
  )
})

describe("notifications/cancelled: what else it ends", () => {
  it.effect("L14 the tools of the turn are stopped before its end is delivered", () => {
    const seen: Array<string> = []
    const tools = ToolRuntime.simple({
      specs: () => [],
      run: () =>
        Effect.onInterrupt(Effect.never, () =>
          Effect.andThen(Effect.sleep("200 millis"), () => Effect.sync(() => seen.push("killed"))),
        ),
    })
    return withServer({ script: oneCall, tools }, (server) =>
      Effect.gen(function* () {
        yield* TestClock.adjust(0)
        yield* server.send(toolCall(2, "codex", { prompt: "x" }))
        yield* server.quiet
        yield* server.send(cancelled(2))
        yield* server.quiet
        assert.notInclude(typesOf(server.messages, 2), "turn_aborted")
        yield* TestClock.adjust("200 millis")
        yield* server.quiet
        assert.deepStrictEqual(seen, ["killed"])
        assert.strictEqual(typesOf(server.messages, 2).at(-1), "turn_aborted")
        const threadId = yield* threadIn(server)
        const next = yield* server.call(3, "codex-reply", { threadId, prompt: "x" })
        assert.deepStrictEqual([textOf(next), threadOf(next)], ["done", threadId])
      }),
    )
  })

  it.effect("L7 its pending question is withdrawn, and an answer to it has no effect", () => {
    const asked = asking([exec])
    return withServer({ script: oneCall, tools: asked.tools }, (server) =>
      Effect.gen(function* () {
        yield* server.send(initialize("i", "2025-11-25"))
        yield* server.send(toolCall(2, "codex", { prompt: "ask" }))
        yield* server.quiet
        assert.strictEqual(elicitations(server).length, 1)
        yield* server.send(cancelled(2))
        yield* server.quiet
        assert.deepStrictEqual(withdrawn(server), [questionId(server)])
        yield* server.send(result(questionId(server), { action: "accept" }))
        yield* server.quiet
        assert.deepStrictEqual(asked.verdicts, [{ decision: "denied", reason: "withdrawn" }])
        assert.deepStrictEqual(responses(server, 2), [])
        const threadId = yield* threadIn(server)
        const next = yield* server.call(3, "codex-reply", { threadId, prompt: "x" })
        assert.strictEqual(textOf(next), "done")
      }),
    )
  })
})
