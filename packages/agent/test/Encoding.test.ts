/** What crosses to the model and back: values without a JSON form of their own, and failures. */
import { assert, describe, it } from "@effect/vitest"
import * as Data from "effect/Data"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Agent } from "../src/testing/index.ts"

const Booking = Schema.Struct({
  day: Schema.Date,
  cents: Schema.BigInt,
  note: Schema.Option(Schema.String),
  length: Schema.Duration,
  at: Schema.DateTimeUtc,
})

const booking: typeof Booking.Type = {
  day: DateTime.toDateUtc(DateTime.makeUnsafe("2026-11-23")),
  cents: 12345678901234567890n,
  note: Option.some("window"),
  length: Duration.minutes(90),
  at: DateTime.makeUnsafe("2026-11-23T17:00:00Z"),
}

const encoded = Schema.encodeSync(Schema.toCodecJson(Booking))(booking)

describe("schemas of values without a JSON form", () => {
  it.effect("the input of a tool", () =>
    Effect.gen(function* () {
      const seen: Array<typeof Booking.Type> = []
      const book = Agent.tool("book", {
        input: Booking.fields,
        output: Booking,
        approve: ({ cents }) => cents > 5n,
        run: (input) => Effect.sync(() => (seen.push(input), input)),
      })
      const test = Agent.test({ tools: [book], script: [Agent.calls("book", encoded), "done"] })
      const chat = yield* test.open()
      const asked: Array<unknown> = []
      yield* chat.ask("book", {
        onApproval: ({ input }) => {
          asked.push(input)
          return true
        },
      }).result
      assert.deepStrictEqual(seen, [booking])
      assert.deepStrictEqual(asked, [booking])
      assert.deepStrictEqual(
        test.sent().outputs.map((text) => JSON.parse(text) as unknown),
        [encoded],
      )
    }),
  )

  it.effect("the answer", () =>
    Effect.gen(function* () {
      const test = Agent.test({ script: [JSON.stringify(encoded)] })
      const chat = yield* test.open()
      const { value } = yield* chat.ask("book", { schema: Booking }).result
      assert.deepStrictEqual(value, booking)
    }),
  )
})

class NoStock extends Data.TaggedError("NoStock")<{ readonly left: number }> {}
class SoldOut extends Schema.TaggedError<SoldOut>()("SoldOut", { item: Schema.String }) {}
class Spoken extends Data.TaggedError("Spoken")<{ readonly message: string }> {}

const circular: { self?: unknown; name: string } = { name: "a" }
circular.self = circular

describe("what the model reads of a failure", () => {
  it.effect.each<readonly [what: string, error: unknown, text: string]>([
    ["a tagged error without a message", new NoStock({ left: 2 }), 'NoStock {"left":2}'],
    ["a schema error without a message", new SoldOut({ item: "tea" }), 'SoldOut {"item":"tea"}'],
    ["a message", new Spoken({ message: "no tea" }), "no tea"],
    ["an error", new Error("broken"), "broken"],
    ["a text", "sold out", "sold out"],
    ["an object", { code: 7 }, '{"code":7}'],
    ["nothing", undefined, "no reason was given"],
    ["a circular object", circular, "a value without a JSON form"],
    ["a big integer", 5n, "5"],
  ])("%s", ([, error, text]) =>
    Effect.gen(function* () {
      const pay = Agent.tool("pay", { run: () => Effect.fail(error) })
      const test = Agent.test({ tools: [pay], script: [Agent.calls("pay"), "sorry"] })
      const chat = yield* test.open()
      yield* chat.ask("pay").result
      assert.deepStrictEqual(test.sent().outputs, [`tool \`pay\` failed: ${text}`])
    }),
  )

  it.effect.each<readonly [what: string, result: unknown, text: string]>([
    ["nothing", undefined, "null"],
    [
      "a circular object",
      circular,
      "tool `pay` failed: its result is nested deeper than 256 levels, or contains itself",
    ],
    ["a big integer", 5n, "tool `pay` failed: its result has no JSON form"],
  ])("and of %s as the result", ([, result, text]) =>
    Effect.gen(function* () {
      const pay = Agent.tool("pay", { run: () => Effect.succeed(result) })
      const test = Agent.test({ tools: [pay], script: [Agent.calls("pay"), "done"] })
      const chat = yield* test.open()
      assert.strictEqual((yield* chat.ask("pay").result).text, "done")
      assert.deepStrictEqual(test.sent().outputs, [text])
    }),
  )

  it.effect("and of more than 1 MiB", () =>
    Effect.gen(function* () {
      const read = Agent.tool("read", {
        input: { asText: Schema.Boolean },
        run: ({ asText }) => Effect.succeed(asText ? "x".repeat(2 ** 21) : ["y".repeat(2 ** 21)]),
      })
      const test = Agent.test({
        tools: [read],
        script: [
          [Agent.calls("read", { asText: true }), Agent.calls("read", { asText: false })],
          "done",
        ],
      })
      const chat = yield* test.open()
      yield* chat.ask("read").result
      const [text = "", list = ""] = test.sent().outputs
      assert.isTrue(text.endsWith("x\n[1048576 of 2097152 bytes omitted]"))
      assert.isTrue(list.startsWith('["y'))
      assert.isTrue(list.endsWith("y\n[1048580 of 2097156 bytes omitted]"))
    }),
  )
})
