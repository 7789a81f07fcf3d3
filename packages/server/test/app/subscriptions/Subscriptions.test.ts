import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as AppServer from "../../../src/AppServer.ts"
import { initializeParams, text } from "../../support/AppHarness.ts"
import { noPorts, withCore } from "../../support/Harness.ts"
import { pair } from "../../support/ConnectionPair.ts"
import { read, type WireMessage } from "../../support/Wire.ts"

/** More than a listener may have unread. */
const eventCount = 3000

const tools = ToolRuntime.simple({
  specs: () => [],
  run: (_, { emit }) =>
    Effect.as(
      Effect.forEach(
        Array.from({ length: eventCount }, (_unused, i) => i),
        (i) => emit({ type: "background_event", message: `number ${i}` }),
        { discard: true },
      ),
      "reported",
    ),
})

/** A turn that does not end by itself. */
const hanging = ToolRuntime.simple({
  specs: () => [],
  run: (_, { emit }) =>
    Effect.andThen(
      Effect.forEach(
        Array.from({ length: 50 }),
        () => emit({ type: "background_event", message: "…" }),
        { discard: true },
      ),
      Effect.never,
    ),
})

const script: Script.ProviderScript = [
  Script.reply(Script.toolCall("report", {}, "c")),
  Script.reply(Script.text("done")),
]

const client = Effect.fnUntraced(function* () {
  const [near, far] = yield* pair(4)
  yield* Effect.forkChild(Effect.provide(AppServer.serve(far), noPorts), {
    startImmediately: true,
  })
  const send = (id: number, method: string, params: object) =>
    Effect.orDie(near.send([JSON.stringify({ id, method, params })]))
  const messages: Array<WireMessage> = []
  /** Reads until that message has arrived. */
  const until = (is: (message: WireMessage) => boolean): Effect.Effect<WireMessage> =>
    Effect.suspend(() => {
      const found = messages.find(is)
      return found === undefined
        ? Effect.flatMap(Effect.orDie(near.receive), (frames) => {
            for (const frame of frames) if (frame._tag === "Text") messages.push(read(frame.text))
            return until(is)
          })
        : Effect.succeed(found)
    })
  const ask = (id: number, method: string, params: object) =>
    Effect.andThen(
      send(id, method, params),
      until((message) => message.id === id && message.method === undefined),
    )
  yield* ask(0, "initialize", initializeParams())
  return { near, send, ask, until, messages }
})

type Client = Effect.Success<ReturnType<typeof client>>

/** A client that reads and one that stops, both with a listener of a conversation with many events. */
const withTwo = <A>(
  body: (
    reading: Client,
    stuck: Client,
    conversationId: string,
  ) => Effect.Effect<A, never, Scope.Scope>,
  runtime: ToolRuntime["Service"] = tools,
) =>
  withCore(
    script,
    () =>
      Effect.gen(function* () {
        const reading = yield* client()
        const stuck = yield* client()
        const made = yield* reading.ask(1, "newConversation", {})
        const conversationId = String(made.result?.["conversationId"])
        yield* stuck.ask(1, "addConversationListener", { conversationId, after: -1 })
        yield* stuck.until(({ method }) => method === "conversationSynced")
        yield* reading.ask(2, "addConversationListener", { conversationId, after: -1 })
        yield* reading.ask(3, "sendUserMessage", { conversationId, items: text("go") })
        return yield* body(reading, stuck, conversationId)
      }),
    runtime,
  )

const isEnd = ({ method }: WireMessage) => method === "codex/event/task_complete"
const numbers = ({ messages }: Client) =>
  messages.flatMap(({ method, params }) =>
    method === "codex/event/background_event" ? [Number(params?.["seq"])] : [],
  )

describe("Subscriptions", () => {
  it.effect("L6 a client that does not read delays no other, and gets what it missed, once", () =>
    withTwo((reading, stuck) =>
      Effect.gen(function* () {
        yield* reading.until(isEnd)
        assert.strictEqual(numbers(reading).length, eventCount)
        assert.isBelow(stuck.messages.length, 20)
        yield* stuck.until(isEnd)
        yield* stuck.until(
          ({ method, params }) =>
            method === "conversationSynced" && Number(params?.["seq"]) > eventCount,
        )
        assert.deepStrictEqual(numbers(stuck), numbers(reading))
        const marks = stuck.messages.flatMap(({ method }) =>
          method?.startsWith("conversation") === true && method !== "conversationSkipped"
            ? [method]
            : [],
        )
        assert.deepStrictEqual(marks, [
          "conversationSynced",
          "conversationLagged",
          "conversationSynced",
        ])
      }),
    ),
  )

  it.effect("L6 a client that does not read and disconnects disturbs no other", () =>
    withTwo((reading, stuck, conversationId) =>
      Effect.gen(function* () {
        yield* stuck.near.drop
        yield* reading.until(isEnd)
        assert.strictEqual(numbers(reading).length, eventCount)
        const state = yield* reading.ask(4, "getConversation", { conversationId })
        assert.strictEqual(state.result?.["status"], "idle")
      }),
    ),
  )

  it.effect(
    "L14 `turn_aborted` comes before the response also if another client does not read",
    () =>
      withTwo(
        (reading, stuck, conversationId) =>
          Effect.gen(function* () {
            yield* stuck.send(9, "interruptConversation", { conversationId })
            yield* reading.until(({ method }) => method === "codex/event/turn_aborted")
            for (let i = 0; i < 500; i++) yield* Effect.yieldNow
            yield* stuck.until(({ id, method }) => id === 9 && method === undefined)
            const order = stuck.messages.flatMap(({ id, method }) =>
              method === "codex/event/turn_aborted" || id === 9 ? [method ?? "answer"] : [],
            )
            assert.deepStrictEqual(order, ["codex/event/turn_aborted", "answer"])
          }),
        hanging,
      ),
  )
})
