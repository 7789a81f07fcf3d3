import { ConversationObserver } from "@colloquy/core/ConversationObserver"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Tracer from "effect/Tracer"
import * as McpServer from "../../src/McpServer.ts"
import { callerOf, withCaller } from "../../src/jsonrpc/TraceContext.ts"
import { created, say, withApp } from "../support/AppHarness.ts"
import { type HarnessOptions, withServer } from "../support/Harness.ts"
import { saying } from "../support/Stateless.ts"

const traceId = "0af7651916cd43dd8448eb211c80319c"
const spanId = "b7ad6b7169203331"
const traceparent = `00-${traceId}-${spanId}-01`

/** Records the callers of submissions. */
const recording = () => {
  const callers: Array<Pick<Tracer.AnySpan, "traceId" | "spanId" | "sampled">> = []
  const observer: ConversationObserver = {
    submitted: (_conversation, _turn, { sampled, spanId, traceId }) => {
      callers.push({ traceId, spanId, sampled })
    },
    committed: () => {},
    closed: () => {},
    evicted: () => {},
    observe: (services) => services,
    measure: () => () => {},
  }
  return { callers, provided: Effect.provideService(ConversationObserver, observer) }
}

const expected = [{ traceId, spanId, sampled: true }]

const withHeader: HarnessOptions["serve"] = (connection, options) =>
  McpServer.serve(
    { ...connection, peer: { ...connection.peer, headers: { traceparent } } },
    options,
  )

describe("the trace of a request", () => {
  it.each([
    [traceparent, { traceId, spanId, sampled: true }],
    [`00-${traceId}-${spanId}-00`, { traceId, spanId, sampled: false }],
    [`cc-${traceId}-${spanId}-01-what-comes-later`, { traceId, spanId, sampled: true }],
    [`ff-${traceId}-${spanId}-01`, undefined],
    [`00-${"0".repeat(32)}-${spanId}-01`, undefined],
    [`00-${traceId}-${"0".repeat(16)}-01`, undefined],
    [`00-${traceId.toUpperCase()}-${spanId}-01`, undefined],
    [`00-${traceId}-${spanId}`, undefined],
    [`00-${traceId}-${spanId}-01${"-a".repeat(1000)}`, undefined],
    [7, undefined],
    ["", undefined],
  ])("%s", (text, span) => {
    const caller = callerOf(text)
    if (span === undefined) assert.isUndefined(caller)
    else assert.deepInclude(caller, span)
  })

  it("a request without a trace is served by the same effect", () => {
    const effect = Effect.succeed(1)
    assert.strictEqual(withCaller(undefined)(effect), effect)
    assert.strictEqual(withCaller("none")(effect), effect)
  })

  it.effect("a call of the handshake era names it in `_meta`", () => {
    const { callers, provided } = recording()
    return provided(
      withServer({}, ({ ask }) =>
        Effect.gen(function* () {
          yield* ask(1, "tools/call", {
            name: "codex",
            arguments: { prompt: "hi" },
            _meta: { traceparent },
          })
          assert.deepStrictEqual(callers, expected)
          yield* ask(2, "tools/call", { name: "codex", arguments: { prompt: "hi" } })
          assert.deepStrictEqual(callers, expected)
        }),
      ),
    )
  })

  it.effect("a call of the stateless era names it in `_meta`, also one that becomes a task", () => {
    const { callers, provided } = recording()
    return provided(
      withServer({}, ({ ask, quiet }) =>
        Effect.gen(function* () {
          const call = { name: "codex", arguments: { prompt: "hi" } }
          yield* ask(1, "tools/call", saying(call, { tasks: {} }, { traceparent }))
          yield* quiet
          assert.deepStrictEqual(callers, expected)
        }),
      ),
    )
  })

  it.effect("a connection names it in the header of its request", () => {
    const { callers, provided } = recording()
    return provided(
      withServer({ serve: withHeader }, ({ ask }) =>
        Effect.gen(function* () {
          yield* ask(1, "tools/call", { name: "codex", arguments: { prompt: "hi" } })
          assert.deepStrictEqual(callers, expected)
        }),
      ),
    )
  })

  it.effect("a request of the app-server without a trace has no caller", () => {
    const { callers, provided } = recording()
    return provided(
      withApp({}, (app) =>
        Effect.gen(function* () {
          yield* say(app, yield* created(app), "hi")
          yield* app.quiet
          assert.deepStrictEqual(callers, [])
        }),
      ),
    )
  })
})
