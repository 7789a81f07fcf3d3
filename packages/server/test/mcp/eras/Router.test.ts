import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { initialize } from "../../support/Asking.ts"
import { type Harness, withServer } from "../../support/Harness.ts"
import { madeBy, metaKey, newest, saying, statelessMeta } from "../../support/Stateless.ts"

const failed = (server: Harness, id: unknown, method: string, params: unknown) =>
  Effect.map(server.ask(id, method, params), ({ error }) => [
    error?.code,
    error?.message,
    error?.data,
  ])

const supported = [newest]

describe("Router: a request of the stateless revision", () => {
  it.effect(
    "is served on a connection without `initialize`, and on one that negotiated another revision",
    () =>
      withServer({}, (server) =>
        Effect.gen(function* () {
          const before = yield* server.ask(1, "tools/list", saying())
          // Before `initialize` members of a tool that only one revision has are left out.
          const old = yield* server.ask(3, "tools/list")
          yield* server.send(initialize({}))
          const after = yield* server.ask(2, "tools/list", saying())
          assert.deepStrictEqual(before.result, after.result)
          assert.deepStrictEqual(Object.keys(before.result ?? {}), [
            "resultType",
            "ttlMs",
            "cacheScope",
            "tools",
            "_meta",
          ])
          assert.deepStrictEqual(
            {
              ...old.result,
              resultType: "complete",
              ttlMs: 0,
              cacheScope: "private",
              _meta: madeBy,
            },
            before.result,
          )
        }),
      ),
  )

  it.effect("does not change the negotiated revision of the connection", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        yield* server.ask(1, "tools/list", saying({}, { elicitation: {} }))
        yield* server.send({
          ...initialize({}),
          params: { ...initialize({}).params, protocolVersion: "2025-03-26" },
        })
        assert.strictEqual((yield* server.response("i")).result?.["protocolVersion"], "2025-03-26")
        yield* server.ask(2, "tools/list", saying())
        yield* server.sendTexts('[{"jsonrpc":"2.0","id":3,"method":"ping"}]')
        yield* server.quiet
        assert.strictEqual(server.texts.at(-1), '[{"jsonrpc":"2.0","id":3,"result":{}}]')
      }),
    ),
  )

  it.effect.each<
    readonly [what: string, meta: unknown, code: number, message: string, data: unknown]
  >([
    [
      "a version that is no text",
      { [metaKey.version]: 20260728, [metaKey.capabilities]: {} },
      -32602,
      `Invalid params: params._meta["${metaKey.version}"]: expected a string`,
      { supported },
    ],
    [
      "no capabilities",
      { [metaKey.version]: newest },
      -32602,
      `Invalid params: params._meta["${metaKey.capabilities}"]: expected an object`,
      { supported },
    ],
    [
      "capabilities that are a list",
      { [metaKey.version]: newest, [metaKey.capabilities]: [] },
      -32602,
      `Invalid params: params._meta["${metaKey.capabilities}"]: expected an object`,
      { supported },
    ],
    [
      "a client without a name",
      statelessMeta({}, { [metaKey.info]: { version: "1" } }),
      -32602,
      `Invalid params: params._meta["${metaKey.info}"]: expected an object with \`name\` and \`version\``,
      { supported },
    ],
    [
      "a level that there is not",
      statelessMeta({}, { [metaKey.logLevel]: "loud" }),
      -32602,
      `Invalid params: params._meta["${metaKey.logLevel}"]: expected one of debug, info, notice, warning, error, critical, alert, emergency`,
      { supported },
    ],
    [
      "an unknown revision",
      statelessMeta({}, { [metaKey.version]: "2031-01-01" }),
      -32022,
      'Unsupported protocol version: "2031-01-01"',
      { supported, requested: "2031-01-01" },
    ],
    [
      "a revision with a handshake",
      statelessMeta({}, { [metaKey.version]: "2025-11-25" }),
      -32022,
      'Unsupported protocol version: "2025-11-25"',
      { supported, requested: "2025-11-25" },
    ],
  ])("L13 %s is refused", ([, meta, code, message, data]) =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        for (const method of ["tools/list", "server/discover", "nobody"]) {
          assert.deepStrictEqual(yield* failed(server, method, method, { _meta: meta }), [
            code,
            message,
            data,
          ])
        }
      }),
    ),
  )

  it.effect("needs no name of the client", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        const meta = { [metaKey.version]: newest, [metaKey.capabilities]: {} }
        const { result } = yield* server.ask(1, "tools/list", { _meta: meta })
        assert.strictEqual(result?.["resultType"], "complete")
      }),
    ),
  )

  it.effect("knows none of the methods that were removed", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        for (const method of ["ping", "initialize", "logging/setLevel", "tasks/result"]) {
          const params = saying(initialize({}).params)
          assert.deepStrictEqual(yield* failed(server, method, method, params), [
            -32601,
            `Method not found: ${method}`,
            { method },
          ])
        }
        yield* server.send(initialize({}))
        assert.strictEqual((yield* server.response("i")).result?.["protocolVersion"], "2025-11-25")
      }),
    ),
  )

  it.effect("unknown tools are an error, invalid arguments a result that says so", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        const [code] = yield* failed(server, 1, "tools/call", saying({ name: "nobody" }))
        const { result } = yield* server.ask(
          2,
          "tools/call",
          saying({ name: "codex", arguments: { prompt: 7 } }),
        )
        assert.deepStrictEqual(
          [code, result?.["resultType"], result?.["isError"], result?.["_meta"]],
          [-32602, "complete", true, madeBy],
        )
      }),
    ),
  )

  it.effect("a request that names the negotiated revision changes nothing", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        yield* server.send(initialize({}))
        const meta = { [metaKey.version]: "2025-11-25" }
        const { result } = yield* server.ask(1, "tools/list", { _meta: meta })
        assert.deepStrictEqual(Object.keys(result ?? {}), ["tools"])
        const other = { [metaKey.version]: "2025-06-18", [metaKey.capabilities]: {} }
        assert.deepStrictEqual(yield* failed(server, 2, "tools/list", { _meta: other }), [
          -32022,
          'Unsupported protocol version: "2025-06-18"',
          { supported, requested: "2025-06-18" },
        ])
      }),
    ),
  )
})

describe("Router: batches", () => {
  const offer = (protocolVersion: string) => ({
    ...initialize({}),
    params: { ...initialize({}).params, protocolVersion },
  })

  it.effect.each(["2024-11-05", "2025-03-26"])("are answered in %s", (version) =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        yield* server.send(offer(version))
        yield* server.response("i")
        yield* server.send([
          { jsonrpc: "2.0", id: 1, method: "ping" },
          { jsonrpc: "2.0", method: "notifications/initialized" },
          { jsonrpc: "2.0", id: 2, method: "nobody" },
          { ...offer(version), id: 3 },
          { jsonrpc: "2.0", id: 4, method: "tools/list", params: saying() },
        ])
        yield* server.quiet
        assert.deepStrictEqual(JSON.parse(server.texts.at(-1) ?? ""), [
          { jsonrpc: "2.0", id: 1, result: {} },
          {
            jsonrpc: "2.0",
            id: 2,
            error: {
              code: -32601,
              message: "Method not found: nobody",
              data: { method: "nobody" },
            },
          },
          ...(["initialize", "tools/list"] as const).map((method, index) => ({
            jsonrpc: "2.0",
            id: index + 3,
            error: {
              code: -32600,
              message: `Invalid Request: \`${method}\` must not stand in a batch`,
            },
          })),
        ])
      }),
    ),
  )

  it.effect.each([undefined, "2025-06-18", "2025-11-25"])("are refused in %s", (version) =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        if (version !== undefined) {
          yield* server.send(offer(version))
          yield* server.response("i")
        }
        yield* server.send([{ jsonrpc: "2.0", id: 1, method: "ping" }])
        yield* server.quiet
        assert.deepStrictEqual(server.messages.at(-1), {
          jsonrpc: "2.0",
          id: null,
          error: {
            code: -32600,
            message: "Invalid Request: batches are not supported, send each message by itself",
          },
        })
      }),
    ),
  )
})
