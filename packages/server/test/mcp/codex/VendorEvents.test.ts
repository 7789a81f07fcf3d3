import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import { sink, type VendorEvents } from "../../../src/mcp/codex/VendorEvents.ts"
import type { PeerControl } from "../../../src/jsonrpc/Caller.ts"
import { asking, exec, initialize, oneCall, questionId, result } from "../../support/Asking.ts"
import { cancelled, defaultAnswer, toolCall, withServer } from "../../support/Harness.ts"
import { saying } from "../../support/Stateless.ts"
import { callResult, textOf, threadOf, typesOf } from "../../support/Wire.ts"

const types = [
  "session_configured",
  "task_started",
  "agent_message_delta",
  "agent_message",
  "token_count",
  "task_complete",
]

/** What the server declares, and how many notifications a call gets, with that setting and these capabilities. */
const seen = (events: VendorEvents | undefined, capabilities: unknown) =>
  withServer(events === undefined ? {} : { events }, (server) =>
    Effect.gen(function* () {
      yield* server.send(initialize(capabilities))
      const declared = (yield* server.response("i")).result?.["capabilities"]
      const answer = yield* server.call(2, "codex", { prompt: "x" })
      yield* server.quiet
      assert.strictEqual(textOf(answer), defaultAnswer)
      const { experimental } = declared as { readonly experimental?: unknown }
      const methods = server.messages.flatMap(({ method }) => method ?? [])
      return { experimental, methods }
    }),
  )

const event = "codex/event"
const extension = "colloquy/codex-event"
const on = { experimental: { [event]: {} }, methods: types.map(() => event) }
const off = { experimental: undefined, methods: [] }
const twice = { ...on, methods: types.flatMap((type) => [event, type]) }
const client = (declared: unknown) => ({ experimental: { [event]: declared } })

describe("codex/event: whether it is sent", () => {
  it.effect.each<
    readonly [setting: VendorEvents | undefined, capabilities: unknown, expected: object]
  >([
    [undefined, {}, on],
    ["on", {}, on],
    ["off", {}, off],
    ["twice", {}, twice],
    ["on", client(false), off],
    ["on", client({ enabled: false }), off],
    ["twice", client({ enabled: false, more: 1 }), off],
    // For a client that asks for the events, the setting of the server does not matter.
    ["off", client({ enabled: true }), off],
    ["on", client({ enabled: true }), on],
    ["on", client({}), on],
    ["on", client(true), on],
    ["on", client(null), on],
    ["on", client("off"), on],
    ["on", client({ enabled: "false" }), on],
    ["on", client([false]), on],
    ["on", { experimental: null }, on],
    ["on", { experimental: [] }, on],
    ["on", { experimental: "codex/event" }, on],
    ["on", { experimental: { "codex/events": false } }, on],
    ["on", { unknown: { [event]: false } }, on],
  ])("setting %s, client %j", ([setting, capabilities, expected]) =>
    Effect.map(seen(setting, capabilities), (got) => assert.deepStrictEqual(got, expected)),
  )

  it.effect.each<readonly [setting: VendorEvents | undefined, capabilities: object, sent: boolean]>(
    [
      [undefined, {}, false],
      ["on", {}, false],
      ["twice", {}, false],
      ["always", {}, true],
      ["off", client({}), false],
      ["on", client({}), true],
      ["on", { extensions: { [extension]: {} } }, true],
      ["on", client(null), false],
      ["on", { extensions: { [extension]: null } }, false],
      ["on", { extensions: { [extension]: false } }, false],
      ["on", { extensions: { [extension]: { enabled: false } } }, false],
      ["always", { extensions: { [extension]: { enabled: false } } }, false],
      ["always", client(false), false],
      ["always", { ...client(false), extensions: { [extension]: {} } }, false],
    ],
  )("2026-07-28: setting %s, client %j: %s", ([setting, capabilities, sent]) =>
    withServer(setting === undefined ? {} : { events: setting }, (server) =>
      Effect.gen(function* () {
        const params = saying({ name: "codex", arguments: { prompt: "x" } }, capabilities)
        yield* server.ask(2, "tools/call", params)
        yield* server.quiet
        assert.deepStrictEqual(typesOf(server.messages, 2), sent ? types : [])
        const { result } = yield* server.ask(3, "server/discover", saying())
        const { extensions } = Object(result?.["capabilities"])
        assert.strictEqual(Object.hasOwn(Object(extensions), extension), setting !== "off")
      }),
    ),
  )

  it.effect("always: with a handshake as by default, also how a client declines", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* seen("always", {}), on)
      assert.deepStrictEqual(yield* seen("always", client(false)), off)
    }),
  )

  it.effect("is sent without a handshake", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        yield* server.call(2, "codex", { prompt: "x" })
        assert.deepStrictEqual(typesOf(server.messages, 2), types)
      }),
    ),
  )

  it.effect("a client that declines does not affect others", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        const other = yield* server.another
        yield* other.send(initialize(client(false)))
        const answer = yield* server.call(2, "codex", { prompt: "x" })
        yield* other.call(2, "codex-reply", { threadId: threadOf(answer), prompt: "y" })
        yield* other.quiet
        assert.deepStrictEqual(typesOf(server.messages, 2), types)
        assert.deepStrictEqual(
          other.messages.filter(({ method }) => method !== undefined),
          [],
        )
      }),
    ),
  )

  it.effect("the second notification has the same parameters and directly follows the first", () =>
    withServer({ events: "twice" }, (server) =>
      Effect.gen(function* () {
        yield* server.call("a", "codex", { prompt: "x" })
        const notes = server.messages.filter(({ method }) => method !== undefined)
        for (let i = 0; i < notes.length; i += 2) {
          assert.deepStrictEqual(notes[i + 1]?.params, notes[i]?.params)
        }
      }),
    ),
  )
})

describe("codex/event: declined", () => {
  it.effect("L7 questions are presented, and the result is returned", () => {
    const asked = asking([exec])
    return withServer({ script: oneCall, tools: asked.tools, events: "off" }, (server) =>
      Effect.gen(function* () {
        yield* server.send(initialize({ elicitation: {} }))
        yield* server.send(toolCall(2, "codex", { prompt: "ask" }))
        yield* server.quiet
        yield* server.send(result(questionId(server), { action: "accept" }))
        assert.strictEqual(textOf(yield* server.response(2)), "done")
        assert.deepStrictEqual(asked.verdicts, [{ decision: "approved", reason: "answered" }])
      }),
    )
  })

  it.effect("a failed turn and a cancelled one end as with events", () =>
    withServer(
      {
        events: "off",
        script: Script.byLastUserText([
          ["hang", Script.reply(Script.hang)],
          ["", Script.status(500)],
        ]),
      },
      (server) =>
        Effect.gen(function* () {
          yield* server.send(toolCall(2, "codex", { prompt: "hang" }))
          yield* server.quiet
          yield* server.send(cancelled(2))
          const failed = yield* server.call(3, "codex", { prompt: "x" })
          assert.isTrue(callResult(failed).isError)
          yield* server.quiet
          assert.strictEqual(server.messages.length, 1)
        }),
    ),
  )
})

describe("codex/event: a client that does not read", () => {
  it.effect.each(["on", "twice"] as const)(
    "%s: an interrupted flush continues with the events that were not accepted",
    (events) =>
      Effect.gen(function* () {
        const reading = yield* Latch.make(false)
        const accepted: Array<string> = []
        const peer: PeerControl = {
          notify: (method, params) =>
            Effect.andThen(reading.await, () => {
              accepted.push(...params.map(() => (method as unknown as { _tag: string })._tag))
              return Effect.void
            }),
          request: () => Effect.die("not asked here"),
          cancel: () => Effect.void,
          passed: () => Effect.void,
        }
        const { add, flush } = sink(events, peer)
        add({ id: "1", msg: { type: "agent_message", message: "a" } })
        add({ id: "1", msg: { type: "task_complete", last_agent_message: "a" } })
        const first = yield* Effect.forkChild(flush, { startImmediately: true })
        yield* Fiber.interrupt(first)
        yield* reading.open
        assert.isTrue(Exit.isSuccess(yield* Effect.exit(flush)))
        assert.isTrue(Exit.isSuccess(yield* Effect.exit(flush)))
        assert.deepStrictEqual(
          accepted,
          events === "on" ? [event, event] : [event, "agent_message", event, "task_complete"],
        )
      }),
  )
})
