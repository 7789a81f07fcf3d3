import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { buildIfMissing } from "./support/BuiltProgram.ts"
import { home } from "./support/Home.ts"
import * as Server from "./support/Server.ts"

beforeAll(buildIfMissing)

const offline = Effect.flatMap(home(), (directory) => Server.ready({ home: directory }))

/** Checks that the server still serves requests. */
const worksStill = (server: Server.Server) =>
  Effect.gen(function* () {
    server.call("still", "codex", { prompt: "say alive" })
    assert.strictEqual(Server.textOf(yield* server.answer("still")), "alive")
  })

const mebibyte = 1024 * 1024
const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth)

describe("colloquy mcp with invalid input", () => {
  for (const [name, line, code] of [
    ["garbage", "garbage", -32_700],
    ["half an object", '{"jsonrpc":"2.0","id":1,', -32_700],
    ["two objects on a line", '{"jsonrpc":"2.0","id":1,"method":"ping"}{}', -32_700],
    ["a batch", '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32_600],
    ["100,000 nested arrays", nested(100_000), -32_600],
    ["an id that is null", '{"jsonrpc":"2.0","id":null,"method":"ping"}', -32_600],
    ["an id that is an object", '{"jsonrpc":"2.0","id":{},"method":"ping"}', -32_600],
    ["no method in a prototype", '{"__proto__":{"method":"ping"},"jsonrpc":"2.0"}', -32_600],
    ["bytes that are not UTF-8", Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), -32_700],
    ["a line of 65 MiB", Buffer.alloc(65 * mebibyte, "x"), -32_600],
  ] as const) {
    it.live(`L13 ${name} gets a separate error and the server continues`, () =>
      Effect.gen(function* () {
        const server = yield* offline
        server.write(line)
        server.write("\n")
        assert.strictEqual((yield* server.answer(null)).error?.code, code)
        yield* worksStill(server)
      }),
    )
  }

  it.live("L13 a line of 8 MiB is a message like any other", () =>
    Effect.gen(function* () {
      const server = yield* offline
      const text = "é".repeat(4 * mebibyte)
      server.call(1, "codex", { prompt: `say ${text}` })
      assert.isTrue(Server.textOf(yield* server.answer(1)) === text)
    }),
  )

  it.live("ids come back as they were sent", () =>
    Effect.gen(function* () {
      const server = yield* offline
      const texts: Array<string> = []
      server.child.stdout.on("data", (text: string) => texts.push(text))
      const ids = [
        "0",
        '"0"',
        '""',
        "-1",
        "9007199254740991",
        "9007199254740993",
        "123456789012345678901234567890",
        '"__proto__"',
        '"constructor"',
        String.raw`"\ud800"`,
        JSON.stringify("x".repeat(100_000)),
      ]
      for (const id of ids) server.write(`{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`)
      yield* worksStill(server)
      const sent = texts.join("").split("\n")
      assert.deepStrictEqual(
        sent.slice(0, ids.length),
        ids.map((id) => `{"jsonrpc":"2.0","id":${id},"result":{}}`),
      )
    }),
  )

  it.live("L13 names of JavaScript's own are names like any other", () =>
    Effect.gen(function* () {
      const server = yield* offline
      const call = (id: number, args: string) =>
        server.write(
          `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"codex","arguments":${args}}}\n`,
        )
      call(1, '{"prompt":"say a","__proto__":{"x":1}}')
      call(2, '{"prompt":"say a","constructor":1}')
      call(
        3,
        '{"prompt":"say b","config":{"__proto__":{"model":"x"},"__proto__.y":1,"a.constructor.prototype.y":1}}',
      )
      call(4, '{"prompt":"say b","profile":"__proto__"}')
      call(5, '{"prompt":"say b","config":{"model_provider":"constructor"}}')
      server.send({ id: 6, method: "__proto__" })
      server.send({ id: 7, method: "hasOwnProperty" })
      server.call(8, "toString", {})
      const known = "Failed to parse configuration for Codex tool: unknown field"
      assert.include(Server.textOf(yield* server.answer(1)), `${known} \`__proto__\``)
      assert.include(Server.textOf(yield* server.answer(2)), `${known} \`constructor\``)
      assert.strictEqual(Server.textOf(yield* server.answer(3)), "b")
      assert.include(Server.textOf(yield* server.answer(4)), "config profile `__proto__` not found")
      assert.include(
        Server.textOf(yield* server.answer(5)),
        "Model provider `constructor` not found",
      )
      assert.strictEqual((yield* server.answer(6)).error?.code, -32_601)
      assert.strictEqual((yield* server.answer(7)).error?.code, -32_601)
      assert.strictEqual((yield* server.answer(8)).error?.code, -32_602)
    }),
  )

  it.live("L13 a configuration that is nested too deeply is reported as an error of the call", () =>
    Effect.gen(function* () {
      const server = yield* offline
      const start =
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"codex","arguments":'
      server.write(`${start}{"prompt":"x","config":{"a":${nested(100_000)}}}}}\n`)
      server.call(2, "codex", { prompt: "x", config: { [`${"a.".repeat(100_000)}b`]: 1 } })
      const { error } = yield* server.answer(1)
      assert.strictEqual(error?.code, -32_602)
      assert.strictEqual(error?.message, "Invalid params: nested deeper than 256 levels")
      const answer = yield* server.answer(2)
      assert.isTrue(answer.result?.isError)
      assert.include(Server.textOf(answer), "Failed to load Codex configuration from overrides: ")
      assert.include(Server.textOf(answer), "nested")
      yield* worksStill(server)
    }),
  )

  it.live("L13 a million deltas at once end a turn like any other", () =>
    Effect.gen(function* () {
      const server = yield* offline
      const text = "w ".repeat(1_000_000).trim()
      server.call(1, "codex", { prompt: `say ${text}` })
      assert.isTrue(Server.textOf(yield* server.answer(1)) === text)
      assert.strictEqual(server.eventTypes(1).at(-1), "task_complete")
    }),
  )
})
