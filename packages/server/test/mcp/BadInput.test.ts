import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import {
  defaultAnswer,
  defaultReply,
  type Harness,
  toolCall,
  withServer,
} from "../support/Harness.ts"
import { textOf, typesOf } from "../support/Wire.ts"

const script = Script.byLastUserText([
  ["hang", Script.reply(Script.bareDeltas("a"), Script.hang)],
  ["", defaultReply],
])

const hangs = (id: unknown) => toolCall(id, "codex", { prompt: "hang" })

const responses = ({ messages }: Harness, id: unknown) =>
  messages.filter((message) => message.method === undefined && message.id === id)

/** The message with these digits for its id. */
const withId = (id: string, message: object) =>
  JSON.stringify({ ...message, id: "ID" }).replace('"ID"', id)

const ids = ["0", '"0"', "-1", "-9007199254740993", '""', "9007199254740993", '"9007199254740993"']

describe("ids over the wire", () => {
  it.effect.each(ids)("id %s is returned as it was sent, in the response and in the events", (id) =>
    withServer({ script }, (server) =>
      Effect.gen(function* () {
        yield* server.sendTexts(withId(id, toolCall(0, "codex", { prompt: "x" })))
        yield* server.quiet
        const answer = server.texts.at(-1) ?? ""
        assert.include(answer, `{"jsonrpc":"2.0","id":${id},"result":`)
        const events = server.texts.slice(0, -1)
        assert.isAbove(events.length, 0)
        for (const text of events) assert.include(text, `"requestId":${id},`)
      }),
    ),
  )

  it.effect("all of these ids at once are separate requests", () =>
    withServer({ script }, (server) =>
      Effect.gen(function* () {
        yield* server.sendTexts(...ids.map((id) => withId(id, hangs(0))))
        yield* server.quiet
        assert.strictEqual((yield* server.provider.requests).length, ids.length)
        // Each is cancelled only by its own id.
        for (const id of ids) {
          yield* server.sendTexts(
            `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id}}}`,
          )
          yield* server.quiet
          const ended = server.texts.filter((text) => text.includes("turn_aborted"))
          assert.include(ended.at(-1), `"requestId":${id},`)
        }
        assert.strictEqual(
          server.texts.filter((text) => text.includes("turn_aborted")).length,
          ids.length,
        )
      }),
    ),
  )

  it.effect.each(["null", "{}", "[1]", "true"])("%s is not an id and gets an error", (id) =>
    withServer({ script }, (server) =>
      Effect.gen(function* () {
        yield* server.sendTexts(withId(id, hangs(0)))
        yield* server.quiet
        assert.deepStrictEqual(server.messages, [
          {
            jsonrpc: "2.0",
            id: null,
            error: {
              code: -32600,
              message: "Invalid Request: `id` must be a string or an integer",
            },
          },
        ])
        assert.deepStrictEqual(yield* server.provider.requests, [])
      }),
    ),
  )

  it.effect.each(ids)("the second request with id %s in flight is refused", (id) =>
    withServer({ script }, (server) =>
      Effect.gen(function* () {
        const ping = { jsonrpc: "2.0", method: "ping" }
        yield* server.sendTexts(withId(id, hangs(0)), withId(id, hangs(0)), withId(id, ping))
        yield* server.quiet
        const refused =
          `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request: the id ` +
          `${JSON.stringify(id).slice(1, -1)} is in use by a request still in flight","data":{"id":${id}}}}`
        assert.strictEqual(server.texts.filter((text) => text === refused).length, 2)
        assert.strictEqual((yield* server.provider.requests).length, 1)
        const types = server.messages.map(({ method }) => method)
        assert.include(types, "codex/event")
        assert.notInclude(server.texts.join(""), "turn_aborted")
      }),
    ),
  )
})

describe("a tools/call at the end", () => {
  it.effect.each<readonly [prompt: string, answer: string]>([
    ["x", defaultAnswer],
    ["hang", "the server is shutting down; the request may have been carried out"],
  ])("L9 sent right before the end of input is answered once: %s", ([prompt, expected]) =>
    withServer({ script }, (server) =>
      Effect.gen(function* () {
        yield* server.send(toolCall(2, "codex", { prompt }))
        yield* server.connection.close
        yield* server.quiet
        yield* TestClock.adjust("5 seconds")
        yield* Fiber.join(server.server)
        yield* server.quiet
        const [answer, ...more] = responses(server, 2)
        assert.deepStrictEqual(more, [])
        assert.strictEqual(
          answer?.error?.message ?? (answer === undefined ? undefined : textOf(answer)),
          expected,
        )
        // No event follows: the terminal event was sent before.
        assert.deepStrictEqual(server.messages.at(-1), answer)
        const ends = typesOf(server.messages, 2)
        assert.include(ends, prompt === "x" ? "task_complete" : "turn_aborted")
      }),
    ),
  )

  it.effect("L9 that waits for its turn gets a response too, and its turn never runs", () =>
    withServer({ script }, (server) =>
      Effect.gen(function* () {
        yield* server.send(hangs(2))
        yield* server.quiet
        const { items } = yield* Effect.orDie(server.manager.list())
        const args = { threadId: items[0]?.id, prompt: "x" }
        yield* server.send(toolCall(3, "codex-reply", args))
        yield* server.connection.close
        yield* server.quiet
        yield* TestClock.adjust("5 seconds")
        yield* Fiber.join(server.server)
        yield* server.quiet
        assert.deepStrictEqual(
          [2, 3].map((id) => responses(server, id).map(({ error }) => error?.code)),
          [[-32000], [-32000]],
        )
        assert.strictEqual((yield* server.provider.requests).length, 1)
      }),
    ),
  )

  it.effect(
    "L9 fails with that reason while the conversations are being closed, and does not hang",
    () =>
      withServer({ script }, (server) =>
        Effect.gen(function* () {
          yield* server.manager.shutdown
          const answer = yield* server.call(2, "codex", { prompt: "x" })
          assert.match(textOf(answer), /^Failed to start Codex session: /)
        }),
      ),
  )
})

describe("many at once", () => {
  it.effect.each([64, 1])(
    "2,000 pings in one write are answered, each once: room for %s",
    (capacity) =>
      withServer({ script, capacity }, (server) =>
        Effect.gen(function* () {
          const pings = Array.from({ length: 2000 }, (_, id) => ({
            jsonrpc: "2.0",
            id,
            method: "ping",
          }))
          yield* server.send(...pings)
          yield* server.quiet
          const answers = server.messages.toSorted((a, b) => Number(a.id) - Number(b.id))
          const wrong = answers.filter(
            ({ id, result }, i) => id !== i || JSON.stringify(result) !== "{}",
          )
          assert.deepStrictEqual([answers.length, wrong.slice(0, 3)], [2000, []])
        }),
      ),
  )
})
