import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as McpClient from "../src/McpClient.ts"
import * as FakeServer from "./FakeServer.ts"

const newest = "2026-07-28"
const clientInfo = { name: "test", version: "1" }

const meta = (capabilities: unknown = {}) => ({
  "io.modelcontextprotocol/protocolVersion": newest,
  "io.modelcontextprotocol/clientInfo": clientInfo,
  "io.modelcontextprotocol/clientCapabilities": capabilities,
})

const result = (id: unknown, members: Readonly<Record<string, unknown>>) =>
  JSON.stringify({ jsonrpc: "2.0", id, result: members })

const discovered = (id: unknown, supportedVersions: ReadonlyArray<string> = [newest]) =>
  result(id, {
    resultType: "complete",
    supportedVersions,
    capabilities: { tools: {} },
    ttlMs: 0,
    cacheScope: "public",
    _meta: { "io.modelcontextprotocol/serverInfo": { name: "s", version: "2" } },
  })

const text = (words: string) => ({
  resultType: "complete",
  content: [{ type: "text", text: words }],
})

const form = (message: string) => ({
  method: "elicitation/create",
  params: { message, requestedSchema: { type: "object", properties: {} } },
})

/** Connects to a server that supports the revision, and continues the test with both ends. */
const met = (options: Partial<McpClient.ConnectOptions> = {}) =>
  Effect.gen(function* () {
    const server = yield* FakeServer.make()
    const connecting = yield* Effect.forkChild(
      McpClient.connect(server.connection, { clientInfo, protocolVersion: newest, ...options }),
      { startImmediately: true },
    )
    const first = yield* server.next
    yield* server.send(discovered(0))
    return { server, first, client: yield* Fiber.join(connecting) }
  })

describe("McpClient without a handshake", () => {
  it.effect("asks for the supported revisions and states in every request who it is", () =>
    Effect.gen(function* () {
      const { client, first, server } = yield* met()
      assert.deepStrictEqual(first, {
        _tag: "Request",
        id: 0,
        method: "server/discover",
        params: { _meta: meta() },
      })
      assert.deepStrictEqual(client.server, {
        protocolVersion: newest,
        capabilities: { tools: {} },
        serverInfo: { name: "s", version: "2" },
      })
      const calling = yield* Effect.forkChild(
        client.callTool("t", { a: 1 }, { onProgress: () => Effect.void }),
        { startImmediately: true },
      )
      const call = yield* server.next
      assert.deepStrictEqual(call._tag === "Request" ? call.params : undefined, {
        name: "t",
        arguments: { a: 1 },
        _meta: { ...meta(), progressToken: 0 },
      })
      yield* server.send(result(1, text("done")))
      assert.deepStrictEqual(yield* Fiber.join(calling), {
        content: [{ type: "text", text: "done" }],
      })
    }),
  )

  it.effect("requests events if there is a handler, and declares that it can be asked", () =>
    Effect.gen(function* () {
      const { first } = yield* met({
        onEvent: () => Effect.void,
        onElicitation: () => Effect.succeed("approved" as const),
      })
      assert.deepStrictEqual(first._tag === "Request" ? first.params : undefined, {
        _meta: meta({ elicitation: {}, experimental: { "codex/event": {} } }),
      })
    }),
  )

  it.effect(
    "answers the questions in a response and repeats the call until there is a result",
    () =>
      Effect.gen(function* () {
        const asked: Array<string> = []
        const { client, server } = yield* met({
          onElicitation: ({ message }) =>
            Effect.sync(() => {
              asked.push(message)
              return { action: "accept", content: { said: message } } as const
            }),
        })
        const calling = yield* Effect.forkChild(client.callTool("t", {}, { id: "mine" }), {
          startImmediately: true,
        })
        const ids: Array<unknown> = []
        const sent: Array<unknown> = []
        const next = Effect.map(server.next, (message) => {
          if (message._tag !== "Request") return
          ids.push(message.id)
          const { _meta, ...params } = message.params as Readonly<Record<string, unknown>>
          sent.push(params)
        })
        yield* next
        yield* server.send(
          result("mine", {
            resultType: "input_required",
            inputRequests: { a: form("a?"), b: form("b?") },
            requestState: "s1",
          }),
        )
        yield* next
        // Null counts as absent.
        yield* server.send(
          result(1, {
            resultType: "input_required",
            inputRequests: { c: form("c?") },
            requestState: null,
          }),
        )
        yield* next
        yield* server.send(result(2, text("done")))
        yield* Fiber.join(calling)
        const accepted = (message: string) => ({ action: "accept", content: { said: message } })
        assert.deepStrictEqual(
          [ids, asked, sent],
          [
            ["mine", 1, 2],
            ["a?", "b?", "c?"],
            [
              { name: "t", arguments: {} },
              {
                name: "t",
                arguments: {},
                inputResponses: { a: accepted("a?"), b: accepted("b?") },
                requestState: "s1",
              },
              { name: "t", arguments: {}, inputResponses: { c: accepted("c?") } },
            ],
          ],
        )
      }),
  )

  it.effect("answers at most 16 questions of a response at the same time, and all of them", () =>
    Effect.gen(function* () {
      let running = 0
      let most = 0
      const { client, server } = yield* met({
        onElicitation: () =>
          Effect.gen(function* () {
            most = Math.max(most, ++running)
            yield* Effect.sleep("1 second")
            running--
            return { action: "accept", content: {} } as const
          }),
      })
      const calling = yield* Effect.forkChild(client.callTool("t", {}), { startImmediately: true })
      yield* server.next
      const names = Array.from({ length: 40 }, (_, n) => `q${n}`)
      const inputRequests = Object.fromEntries(names.map((name) => [name, form(name)]))
      yield* server.send(result(1, { resultType: "input_required", inputRequests }))
      yield* TestClock.adjust("3 seconds")
      const again = yield* server.next
      assert.strictEqual(most, 16)
      const params = again._tag === "Request" ? again.params : undefined
      const { inputResponses } = params as { readonly inputResponses: object }
      assert.sameMembers(Object.keys(inputResponses), names)
      yield* server.send(result(2, text("done")))
      yield* Fiber.join(calling)
    }),
  )

  it.effect("fails when the server asks a question and there is no handler", () =>
    Effect.gen(function* () {
      const { client, server } = yield* met()
      const calling = yield* Effect.forkChild(Effect.flip(client.callTool("t", {})), {
        startImmediately: true,
      })
      yield* server.next
      yield* server.send(
        result(1, { resultType: "input_required", inputRequests: { a: form("a?") } }),
      )
      const failure = yield* Fiber.join(calling)
      assert.deepInclude(failure, {
        _tag: "JsonRpcError",
        code: -32603,
        message: 'the server asks "elicitation/create", and there is no handler for it',
      })
    }),
  )

  it.effect("fails when the server does not support the revision", () =>
    Effect.gen(function* () {
      const server = yield* FakeServer.make()
      const connecting = yield* Effect.forkChild(
        Effect.flip(McpClient.connect(server.connection, { clientInfo, protocolVersion: newest })),
        { startImmediately: true },
      )
      yield* server.next
      yield* server.send(discovered(0, ["2027-01-01"]))
      assert.deepInclude(yield* Fiber.join(connecting), {
        code: -32602,
        message: 'the server speaks protocol revision ["2027-01-01"], expected one of 2026-07-28',
      })
    }),
  )

  it.effect("auto performs a handshake with a server that supports nothing else", () =>
    Effect.gen(function* () {
      const server = yield* FakeServer.make()
      const connecting = yield* Effect.forkChild(
        McpClient.connect(server.connection, { clientInfo, protocolVersion: "auto" }),
        { startImmediately: true },
      )
      yield* server.next
      yield* server.send('{"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"no"}}')
      const hello = yield* server.next
      assert.deepStrictEqual(hello._tag === "Request" ? [hello.method, hello.params] : undefined, [
        "initialize",
        { protocolVersion: "2025-11-25", capabilities: {}, clientInfo },
      ])
      yield* server.send(
        result(1, { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: clientInfo }),
      )
      yield* Fiber.join(connecting)
      assert.strictEqual((yield* server.next)._tag, "Notification")
    }),
  )
})
