import type { Connection } from "@colloquy/protocol/Connection"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as Features from "../../src/features/Features.ts"
import { tool } from "../../src/features/Tool.ts"
import * as McpServer from "../../src/McpServer.ts"
import { initialize } from "../support/Asking.ts"
import { type Harness, type HarnessOptions, toolCall, withServer } from "../support/Harness.ts"
import { codex, withToken } from "../support/Progress.ts"
import { saying } from "../support/Stateless.ts"
import { read } from "../support/Wire.ts"

type Sent = ReadonlyArray<string>

/**
 * A server over a connection that keeps the chunks of its output as a writer of batches makes them: whatever is sent
 * between two waits of `apart` may be one chunk.
 */
const withChunks = <A, E>(
  options: HarnessOptions,
  body: (server: Harness, chunks: ReadonlyArray<Sent>) => Effect.Effect<A, E>,
): Effect.Effect<A, E> =>
  Effect.suspend(() => {
    let chunk: Array<string> = []
    const chunks = [chunk]
    const begin = Effect.sync(() => {
      chunk = []
      chunks.push(chunk)
    })
    const recorded = (connection: Connection): Connection => ({
      ...connection,
      send: (texts) =>
        Effect.suspend(() => {
          for (const text of texts) {
            for (const one of [JSON.parse(text)].flat()) {
              const { id, method, params } = read(JSON.stringify(one))
              chunk.push(method === undefined ? `response ${String(id)}` : nameOf(method, params))
            }
          }
          return connection.send(texts)
        }),
      apart: Effect.andThen(Effect.yieldNow, begin),
    })
    return withServer(
      { ...options, serve: (connection, given) => McpServer.serve(recorded(connection), given) },
      (server) => body(server, chunks),
    )
  })

const nameOf = (method: string, params: unknown) =>
  method === "notifications/progress"
    ? `progress ${String(Reflect.get(Object(params), "progressToken"))}`
    : method

/** Whether some chunk has both a progress notification of that token and that response. */
const together = (chunks: ReadonlyArray<Sent>, token: string, id: unknown) =>
  chunks.some(
    (chunk) => chunk.includes(`progress ${token}`) && chunk.includes(`response ${String(id)}`),
  )

const tools = [
  tool({
    name: "reports",
    run: (_, { progress }) => Effect.as(Effect.orDie(progress(1, 1, "done")), "ok"),
  }),
  tool({
    name: "fails",
    run: (_, { progress }) =>
      Effect.andThen(Effect.orDie(progress(1, 1, "done")), Effect.die("oops")),
  }),
  tool({
    name: "hangs",
    run: (_, { progress }) => Effect.andThen(Effect.orDie(progress(1, 1, "done")), Effect.never),
  }),
  tool({ name: "plain", run: () => Effect.succeed("ok") }),
]

const withTools = <A, E>(
  body: (server: Harness, chunks: ReadonlyArray<Sent>) => Effect.Effect<A, E>,
) =>
  Effect.flatMap(Effect.orDie(Features.make({ tools })), (features) =>
    withChunks({ features }, body),
  )

describe("a response after progress", () => {
  it.effect("is in a later chunk than the last progress of a turn", () =>
    withChunks({}, (server, chunks) =>
      Effect.gen(function* () {
        yield* server.send(codex(2, "hi", "p"))
        yield* server.response(2)
        assert.isTrue(chunks.flat().includes("progress p"))
        assert.isFalse(together(chunks, "p", 2))
      }),
    ),
  )

  it.effect.each(["reports", "fails"])(
    "is also in a later chunk for a tool of an embedder: %s",
    (name) =>
      withTools((server, chunks) =>
        Effect.gen(function* () {
          yield* server.send(withToken(toolCall(2, name, {}), "p"))
          yield* server.response(2)
          assert.deepStrictEqual(chunks, [["progress p"], ["response 2"]])
        }),
      ),
  )

  it.effect("is also in a later chunk without a handshake", () =>
    withTools((server, chunks) =>
      Effect.gen(function* () {
        const params = saying({ name: "reports", arguments: {} }, {}, { progressToken: "p" })
        yield* server.ask(2, "tools/call", params)
        assert.deepStrictEqual(chunks, [["progress p"], ["response 2"]])
      }),
    ),
  )

  it.effect(
    "is also in a later chunk for the error of a call that the end of the connection stops",
    () =>
      withTools((server, chunks) =>
        Effect.gen(function* () {
          yield* server.send(withToken(toolCall(2, "hangs", {}), "p"))
          yield* server.quiet
          yield* server.connection.close
          yield* server.response(2).pipe(Effect.forkChild({ startImmediately: true }))
          yield* TestClock.adjust("5 seconds")
          yield* server.quiet
          assert.deepStrictEqual(chunks, [["progress p"], ["response 2"]])
        }),
      ),
  )

  it.effect("is also in a later chunk in a batch", () =>
    withTools((server, chunks) =>
      Effect.gen(function* () {
        const hello = initialize({})
        yield* server.send({
          ...hello,
          params: { ...hello.params, protocolVersion: "2025-03-26" },
        })
        yield* server.response("i")
        yield* server.send([
          withToken(toolCall(2, "reports", {}), "p"),
          withToken(toolCall(3, "reports", {}), "q"),
        ])
        yield* server.quiet
        assert.includeMembers(chunks.flat(), ["response 2", "response 3"])
        for (const [token, id] of [
          ["p", 2],
          ["p", 3],
          ["q", 2],
          ["q", 3],
        ] as const) {
          assert.isFalse(together(chunks, token, id))
        }
      }),
    ),
  )

  it.effect("does not wait when there was no progress", () =>
    withTools((server, chunks) =>
      Effect.gen(function* () {
        for (const id of [2, 3]) yield* server.send(toolCall(id, "reports", {}))
        yield* server.send(withToken(toolCall(4, "plain", {}), "p"))
        for (const id of [2, 3, 4]) yield* server.response(id)
        assert.deepStrictEqual(chunks, [["response 2", "response 3", "response 4"]])
      }),
    ),
  )

  it.effect("L1 gets no response when it is cancelled while it waits", () =>
    withTools((server, chunks) =>
      Effect.gen(function* () {
        yield* server.send(withToken(toolCall(2, "reports", {}), "p"), {
          jsonrpc: "2.0",
          method: "notifications/cancelled",
          params: { requestId: 2 },
        })
        yield* server.quiet
        assert.deepStrictEqual(chunks.flat(), ["progress p"])
      }),
    ),
  )
})
