import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import type { InputRequest, RequestContext } from "../../../src/mcp/RequestContext.ts"
import { type AskingServer, type Called, text, withAsking } from "../../support/AskingServer.ts"
import { initialize } from "../../support/Asking.ts"
import { madeBy, saying } from "../../support/Stateless.ts"

const form = (
  message: string,
  properties: unknown = { name: { type: "string" } },
): InputRequest => ({
  method: "elicitation/create",
  params: {
    message,
    requestedSchema: { type: "object", properties, required: ["name"] },
  },
})

const accept = (name: unknown) => ({ action: "accept", content: { name } })

const everything = { elicitation: {}, sampling: {}, roots: {} }

const call = (more: Readonly<Record<string, unknown>> = {}, capabilities: unknown = everything) =>
  saying({ name: "t", arguments: { b: 1, a: 2 }, ...more }, capabilities)

interface Asked {
  readonly inputRequests: Readonly<Record<string, unknown>>
  readonly requestState: string
}

const asked = ({ result }: { readonly result?: Readonly<Record<string, unknown>> }): Asked => {
  assert.strictEqual(result?.["resultType"], "input_required")
  return result as unknown as Asked
}

const words = ({ result }: { readonly result?: Readonly<Record<string, unknown>> }) => [
  result?.["resultType"],
  (result?.["content"] as ReadonlyArray<{ readonly text: string }> | undefined)?.[0]?.text,
]

const retry = (
  server: AskingServer,
  id: unknown,
  state: string,
  inputResponses: unknown,
  more: Readonly<Record<string, unknown>> = {},
) => server.ask(id, "tools/call", call({ requestState: state, inputResponses, ...more }))

/** Asks for both at once and returns the answers as text. */
const both: Called = (_, context) =>
  Effect.map(context.ask({ one: form("one?"), two: form("two?") }), (answers) =>
    text(JSON.stringify(answers)),
  )

const unusable =
  "Invalid params: params.requestState is not one of this call; call again without it"

describe("ask without a handshake", () => {
  it.effect("ends the run with all questions at once, and the answers run it again", () =>
    withAsking(both, (server) =>
      Effect.gen(function* () {
        const first = yield* server.ask(1, "tools/call", call())
        const { requestState } = asked(first)
        assert.deepStrictEqual<unknown>(first, {
          jsonrpc: "2.0",
          id: 1,
          result: {
            resultType: "input_required",
            inputRequests: { one: form("one?"), two: form("two?") },
            requestState,
            _meta: madeBy,
          },
        })
        const second = yield* retry(server, 2, requestState, {
          one: accept("a"),
          two: { action: "decline" },
        })
        assert.deepStrictEqual(words(second), [
          "complete",
          JSON.stringify({ one: accept("a"), two: { action: "decline" } }),
        ])
      }),
    ),
  )

  it.effect("asks again only for missing answers, and keeps the others", () =>
    withAsking(both, (server) =>
      Effect.gen(function* () {
        const first = asked(yield* server.ask(1, "tools/call", call()))
        const second = asked(
          yield* retry(server, 2, first.requestState, { two: accept("b"), other: accept("x") }),
        )
        assert.deepStrictEqual(second.inputRequests, { one: form("one?") })
        const third = yield* retry(server, 3, second.requestState, {
          one: accept("a"),
          // Answered before: the first answer is used.
          two: accept("changed"),
        })
        assert.deepStrictEqual(words(third), [
          "complete",
          JSON.stringify({ one: accept("a"), two: accept("b") }),
        ])
      }),
    ),
  )

  it.effect.each<readonly [what: string, answer: unknown]>([
    ["no object", "yes"],
    ["no action", { content: { name: "a" } }],
    ["another action", { action: "maybe" }],
    ["an acceptance without a form", { action: "accept" }],
    ["a form without what is required", { action: "accept", content: {} }],
    ["a member of another type", accept(7)],
  ])("L7 an answer with %s counts as missing", ([, answer]) =>
    withAsking(both, (server) =>
      Effect.gen(function* () {
        const first = asked(yield* server.ask(1, "tools/call", call()))
        const second = asked(
          yield* retry(server, 2, first.requestState, { one: accept("a"), two: answer }),
        )
        assert.deepStrictEqual(second.inputRequests, { two: form("two?") })
      }),
    ),
  )

  it.effect("L13 answers that are not an object are refused", () =>
    withAsking(both, (server) =>
      Effect.gen(function* () {
        const { requestState } = asked(yield* server.ask(1, "tools/call", call()))
        const { error } = yield* retry(server, 2, requestState, [accept("a")])
        assert.deepStrictEqual(
          [error?.code, error?.message],
          [-32602, "Invalid params: params.inputResponses: expected an object"],
        )
      }),
    ),
  )

  it.effect("L6 the state with the answers is limited to 256 Ki characters", () =>
    withAsking(both, (server) =>
      Effect.gen(function* () {
        const one = accept("x".repeat(256 * 1024))
        const first = asked(yield* server.ask(1, "tools/call", call()))
        const { error } = yield* retry(server, 2, first.requestState, { one })
        assert.deepStrictEqual(
          [error?.code, error?.message],
          [-32603, "the answers of this call are too long to keep: more than 262144 characters"],
        )
        const other = asked(yield* server.ask(3, "tools/call", call()))
        const whole = yield* retry(server, 4, other.requestState, { one, two: accept("b") })
        assert.strictEqual(words(whole)[0], "complete")
      }),
    ),
  )

  it.effect("accepts the answers in a first call, and asks for the others", () =>
    withAsking(both, (server) =>
      Effect.gen(function* () {
        const known = { one: accept("a"), another: accept("c") }
        const first = asked(yield* server.ask(1, "tools/call", call({ inputResponses: known })))
        assert.deepStrictEqual(first.inputRequests, { two: form("two?") })
        const answers = { ...known, two: accept("b") }
        const second = yield* server.ask(2, "tools/call", call({ inputResponses: answers }))
        assert.deepStrictEqual(words(second), [
          "complete",
          JSON.stringify({ one: accept("a"), two: accept("b") }),
        ])
      }),
    ),
  )

  it.effect.each<
    readonly [
      what: string,
      state: (state: string) => unknown,
      more: Readonly<Record<string, unknown>>,
    ]
  >([
    ["was changed", (state) => `${state}x`, {}],
    ["was not sealed by this server", () => "abc", {}],
    ["is empty", () => "", {}],
    ["is of another tool", (state) => state, { name: "u" }],
    ["is of other arguments", (state) => state, { arguments: { a: 2, b: 2 } }],
  ])("L13 a state that %s is refused", ([, change, more]) =>
    withAsking(both, (server) =>
      Effect.gen(function* () {
        const { requestState } = asked(yield* server.ask(1, "tools/call", call()))
        const { error } = yield* server.ask(
          2,
          "tools/call",
          call({
            requestState: change(requestState),
            inputResponses: { one: accept("a"), two: accept("b") },
            ...more,
          }),
        )
        assert.deepStrictEqual([error?.code, error?.message], [-32602, unusable])
      }),
    ),
  )

  it.effect(
    "the same arguments in another order are the same call, and so is another `_meta`",
    () =>
      withAsking(both, (server) =>
        Effect.gen(function* () {
          const { requestState } = asked(yield* server.ask(1, "tools/call", call()))
          const again = yield* retry(
            server,
            2,
            requestState,
            { one: accept("a"), two: accept("b") },
            { arguments: { a: 2, b: 1 }, _meta: { ...call()._meta, more: 1 } },
          )
          assert.strictEqual(words(again)[0], "complete")
        }),
      ),
  )

  it.effect("a state is valid for an hour", () =>
    withAsking(both, (server) =>
      Effect.gen(function* () {
        const answers = { one: accept("a"), two: accept("b") }
        const { requestState } = asked(yield* server.ask(1, "tools/call", call()))
        yield* TestClock.adjust("1 hour")
        const { error } = yield* retry(server, 2, requestState, answers)
        assert.deepStrictEqual(
          [error?.code, error?.message],
          [-32602, "Invalid params: params.requestState has expired; call again without it"],
        )
      }),
    ),
  )

  it.effect(
    "L7 a state that led to a result cannot be used again, one that led to more questions can",
    () =>
      withAsking(both, (server) =>
        Effect.gen(function* () {
          const answers = { one: accept("a"), two: accept("b") }
          const first = asked(yield* server.ask(1, "tools/call", call()))
          asked(yield* retry(server, 2, first.requestState, {}))
          assert.strictEqual(
            words(yield* retry(server, 3, first.requestState, answers))[0],
            "complete",
          )
          const { error } = yield* retry(server, 4, first.requestState, answers)
          assert.deepStrictEqual(
            [error?.code, error?.message],
            [-32602, "Invalid params: params.requestState was used already; call again without it"],
          )
        }),
      ),
  )

  it.effect("L7 an effect of `once` does not run again in a later request of the call", () => {
    let times = 0
    const paying: Called = (_, context) =>
      Effect.gen(function* () {
        const receipt = yield* context.once(
          "pay",
          Effect.sync(() => ({ number: ++times })),
        )
        const { name } = yield* context.ask({ name: form("name?") })
        const { more } = yield* context.ask({ more: form("more?") })
        return text(JSON.stringify([receipt, name["content"], more["content"]]))
      })
    return withAsking(paying, (server) =>
      Effect.gen(function* () {
        const first = asked(yield* server.ask(1, "tools/call", call()))
        const second = asked(yield* retry(server, 2, first.requestState, { name: accept("n") }))
        assert.deepStrictEqual(Object.keys(second.inputRequests), ["more"])
        const third = yield* retry(server, 3, second.requestState, { more: accept("m") })
        assert.deepStrictEqual(
          [words(third), times],
          [["complete", '[{"number":1},{"name":"n"},{"name":"m"}]'], 1],
        )
      }),
    )
  })

  it.effect.each<readonly [capabilities: unknown, question: InputRequest, missing: unknown]>([
    [{}, form("?"), { elicitation: {} }],
    [{ elicitation: { url: {} } }, form("?"), { elicitation: { form: {} } }],
    [
      { elicitation: {} },
      {
        method: "elicitation/create",
        params: { mode: "url", url: "https://a.test", message: "?" },
      },
      { elicitation: { url: {} } },
    ],
    [{}, { method: "sampling/createMessage", params: { messages: [] } }, { sampling: {} }],
    [
      { sampling: {} },
      { method: "sampling/createMessage", params: { messages: [], tools: [] } },
      { sampling: { tools: {} } },
    ],
    [{ elicitation: {} }, { method: "roots/list" }, { roots: {} }],
  ])("L7 with %j declared, nothing else is asked", ([capabilities, question, missing]) =>
    withAsking(
      (_, context) => Effect.as(context.ask({ q: question }), text("no")),
      (server) =>
        Effect.gen(function* () {
          const { error } = yield* server.ask(1, "tools/call", call({}, capabilities))
          assert.deepStrictEqual(
            [error?.code, error?.data],
            [-32021, { requiredCapabilities: missing }],
          )
        }),
    ),
  )

  it.effect(
    "accepts the answers of a model and of the roots, and asks again for answers of another shape",
    () =>
      withAsking(
        (_, context) =>
          Effect.map(
            context.ask({
              model: { method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } },
              roots: { method: "roots/list" },
            }),
            (answers) => text(Object.keys(answers).join()),
          ),
        (server) =>
          Effect.gen(function* () {
            const message = { role: "assistant", model: "m", content: { type: "text", text: "hi" } }
            const first = asked(yield* server.ask(1, "tools/call", call()))
            const second = asked(
              yield* retry(server, 2, first.requestState, { model: {}, roots: { roots: [{}] } }),
            )
            assert.deepStrictEqual(Object.keys(second.inputRequests), ["model", "roots"])
            const third = yield* retry(server, 3, second.requestState, {
              model: message,
              roots: { roots: [{ uri: "file:///a" }] },
            })
            assert.deepStrictEqual(words(third), ["complete", "model,roots"])
          }),
      ),
  )
})

describe("notifications of a handler without a handshake", () => {
  const notifying: Called = (_, context) =>
    Effect.gen(function* () {
      yield* context.progress(1, 2, "half")
      yield* context.progress(1, 2, "not more")
      yield* context.log("debug", "small")
      yield* context.log("error", { large: true }, "tool")
      return text("reported")
    }).pipe(Effect.orDie)

  it.effect("are those that the request asked for, before its response", () =>
    withAsking(notifying, (server) =>
      Effect.gen(function* () {
        yield* server.ask(1, "tools/call", call())
        yield* server.ask(
          2,
          "tools/call",
          saying(
            { name: "t" },
            {},
            { progressToken: "p", "io.modelcontextprotocol/logLevel": "warning" },
          ),
        )
        assert.deepStrictEqual(
          server.messages.map(({ id, method, params }) => [id, method, params]),
          [
            [1, undefined, undefined],
            [
              undefined,
              "notifications/progress",
              { progressToken: "p", progress: 1, total: 2, message: "half" },
            ],
            [
              undefined,
              "notifications/message",
              { level: "error", logger: "tool", data: { large: true } },
            ],
            [2, undefined, undefined],
          ],
        )
      }),
    ),
  )
})

describe("ask after a handshake", () => {
  const client = initialize(everything)

  it.effect("asks all of them in requests of the server", () =>
    withAsking(both, (server) =>
      Effect.gen(function* () {
        yield* server.send(client)
        yield* server.quiet
        yield* server.send({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "t" } })
        yield* server.quiet
        const questions = server.messages.filter(({ method }) => method === "elicitation/create")
        assert.deepStrictEqual(
          questions.map(({ params }) => params),
          [form("one?").params, form("two?").params],
        )
        for (const [index, { id }] of questions.entries()) {
          yield* server.send({ jsonrpc: "2.0", id, result: accept(`n${index}`) })
        }
        yield* server.quiet
        const { result } = server.messages.findLast(({ id }) => id === 1) ?? {}
        assert.deepStrictEqual(
          result,
          text(JSON.stringify({ one: accept("n0"), two: accept("n1") })),
        )
      }),
    ),
  )

  it.effect("L7 a missing answer is an error after an hour", () =>
    withAsking(both, (server) =>
      Effect.gen(function* () {
        yield* server.send(client)
        yield* server.send({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "t" } })
        yield* server.quiet
        yield* TestClock.adjust("1 hour")
        yield* server.quiet
        const { error } = server.messages.findLast(({ id }) => id === 1) ?? {}
        assert.deepStrictEqual(error, {
          code: -32000,
          message: "the client did not respond within an hour",
        })
      }),
    ),
  )

  it.effect("L7 asks nothing that the client did not declare", () => {
    const contexts: Array<RequestContext> = []
    return withAsking(
      (params, context) => {
        contexts.push(context)
        return both(params, context)
      },
      (server) =>
        Effect.gen(function* () {
          yield* server.send(initialize({ roots: {} }))
          yield* server.quiet
          const refused = yield* server.ask(1, "tools/call", { name: "t" })
          assert.deepStrictEqual(refused.error, {
            code: -32600,
            message: "the client did not declare the capability elicitation",
            data: { requiredCapabilities: { elicitation: {} } },
          })
          assert.deepStrictEqual(
            contexts.map(({ client: { capabilities, info }, era, principal, revision }) => [
              era,
              revision,
              principal,
              info,
              capabilities,
            ]),
            [["handshake", "2025-11-25", "local", { name: "test", version: "1" }, { roots: {} }]],
          )
        }),
    )
  })
})
