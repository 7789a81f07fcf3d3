/** The request to which a sent message belongs: transports with a stream per request send it there. */
import { recordSends } from "@colloquy/testing/RecordedSends"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Features from "../src/features/Features.ts"
import { tool } from "../src/features/Tool.ts"
import * as AppServer from "../src/AppServer.ts"
import * as McpServer from "../src/McpServer.ts"
import { created, hello, listening, say } from "./support/AppHarness.ts"
import { asking, exec, initialize, oneCall } from "./support/Asking.ts"
import { type Harness, type HarnessOptions, noPorts, withServer } from "./support/Harness.ts"
import { saying, metaKey } from "./support/Stateless.ts"
import { read } from "./support/Wire.ts"

type Line = readonly [what: string, relatedTo: unknown]

/** A server over a connection that records its messages; `lines` gives what was sent since the last call. */
const withRecorded = <A, E>(
  options: HarnessOptions,
  body: (server: Harness, lines: () => ReadonlyArray<Line>) => Effect.Effect<A, E>,
  serve: "mcp" | "app" = "mcp",
): Effect.Effect<A, E> =>
  Effect.suspend(() => {
    let sends: ReturnType<typeof recordSends>["sends"] = []
    let seen = 0
    const lines = () => {
      const fresh = sends.slice(seen)
      seen = sends.length
      return fresh.map(({ relatedTo, text }): Line => {
        const { id, method } = read(text)
        return [method ?? `response ${String(id)}`, relatedTo]
      })
    }
    return withServer(
      {
        ...options,
        serve: (connection, given) => {
          const recorded = recordSends(connection)
          sends = recorded.sends
          return serve === "mcp"
            ? McpServer.serve(recorded.connection, given)
            : Effect.provide(AppServer.serve(recorded.connection), noPorts)
        },
      },
      (server) => body(server, lines),
    )
  })

const tools = [
  tool({
    name: "reports",
    run: (_, context) =>
      Effect.gen(function* () {
        yield* context.progress(1)
        yield* context.log("error", "a line")
        return "ok"
      }).pipe(Effect.orDie),
  }),
]

/** The parameters of a call in each era, from a client that shows forms and wants events and the log. */
const eras: ReadonlyArray<readonly [era: string, says: (params: object) => object]> = [
  ["handshake", (params) => ({ ...params, _meta: { progressToken: "p" } })],
  [
    "stateless",
    (params) =>
      saying(
        { ...params },
        { elicitation: {}, extensions: { "colloquy/codex-event": {} } },
        { progressToken: "p", [metaKey.logLevel]: "info" },
      ),
  ],
]

describe("messages name the request to which they belong", () => {
  it.effect.each(eras)("%s: progress and log lines of a tool", ([era, says]) =>
    Effect.gen(function* () {
      const features = yield* Effect.orDie(Features.make({ tools }))
      yield* withRecorded({ features }, (server, lines) =>
        Effect.gen(function* () {
          if (era === "handshake") {
            yield* server.send(initialize({}))
            yield* server.response("i")
            assert.deepStrictEqual(lines(), [["response i", "i"]])
          }
          yield* server.ask(7, "tools/call", says({ name: "reports", arguments: {} }))
          assert.deepStrictEqual(lines(), [
            ["notifications/progress", 7],
            ["notifications/message", 7],
            ["response 7", 7],
          ])
        }),
      )
    }),
  )

  it.effect.each(eras)("%s: events, progress and questions of a turn", ([era, says]) =>
    withRecorded(
      { script: oneCall, tools: asking([exec]).tools, taskAfter: "1 hour" },
      (server, lines) =>
        Effect.gen(function* () {
          if (era === "handshake") {
            yield* server.send(initialize({ elicitation: {} }))
            yield* server.response("i")
            lines()
          }
          yield* server.send({
            jsonrpc: "2.0",
            id: "turn",
            method: "tools/call",
            params: says({ name: "codex", arguments: { prompt: "ask" } }),
          })
          yield* server.quiet
          const first = lines()
          const kinds = new Set(first.map(([what]) => what))
          const question = era === "handshake" ? "elicitation/create" : "response turn"
          for (const kind of ["codex/event", "notifications/progress", question]) {
            assert.isTrue(kinds.has(kind), `${kind} in ${[...kinds].join(", ")}`)
          }
          assert.isTrue(first.every(([, relatedTo]) => relatedTo === "turn"))
          if (era !== "handshake") return
          // The withdrawal of a question belongs to the same request.
          yield* server.send({
            jsonrpc: "2.0",
            method: "notifications/cancelled",
            params: { requestId: "turn" },
          })
          yield* server.quiet
          const rest = lines()
          assert.isTrue(rest.some(([what]) => what === "notifications/cancelled"))
          assert.isTrue(rest.every(([, relatedTo]) => relatedTo === "turn"))
        }),
    ),
  )

  it.effect("a refused request, and a batch, by the first of its requests", () =>
    withRecorded({}, (server, lines) =>
      Effect.gen(function* () {
        yield* server.ask(1, "nothing")
        assert.deepStrictEqual(lines(), [["response 1", 1]])
        yield* server.sendTexts("nonsense")
        yield* server.quiet
        assert.deepStrictEqual(lines(), [["response null", undefined]])
      }),
    ),
  )

  it.effect("events of a listener belong to no request once its response is sent", () =>
    withRecorded(
      {},
      (app, lines) =>
        Effect.gen(function* () {
          yield* hello(app)
          const id = yield* created(app)
          yield* listening(app, id)
          assert.deepStrictEqual(lines(), [
            ["response hello", "hello"],
            ["response new", "new"],
            ["response listen", "listen"],
          ])
          yield* say(app, id, "hi")
          yield* app.quiet
          const [response, ...events] = lines()
          assert.deepStrictEqual(response, ["response say", "say"])
          assert.isAbove(events.length, 3)
          assert.isTrue(events.every(([, relatedTo]) => relatedTo === undefined))
        }),
      "app",
    ),
  )
})
