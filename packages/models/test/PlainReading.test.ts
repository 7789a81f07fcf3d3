import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { JsonObject } from "../src/internal/JsonObject.ts"
import { plainItem } from "../src/internal/PlainItem.ts"
import { readBySchema } from "../src/internal/ResponsesItem.ts"
import { readUsage, type UsageNames } from "../src/internal/Usage.ts"

const anyOf = <A>(choices: ReadonlyArray<A>): Effect.Effect<A> =>
  Effect.map(Random.nextIntBetween(0, choices.length - 1), (at) => choices[at] as A)

const part = (type: string, text: unknown) => ({ type, text, refusal: text, annotations: [] })
const lists = [
  [],
  [part("output_text", "a")],
  [part("refusal", "no"), part("output_text", 1), null, "x", [], part("image", "a")],
  [part("summary_text", "s"), part("summary_text", "t")],
  [part("reasoning_text", "r"), part("text", "u")],
  [part("summary_text", null)],
]
const values = [undefined, null, "", "text", 0, 7, 1.5, -1, 1e12, 1e13, true, {}, [], ...lists]

const members = ["role", "content", "summary", "encrypted_content", "name", "arguments", "call_id"]

/** An item of a known type whose members are of any kind. */
const anyItem = Effect.gen(function* () {
  const item: Record<string, unknown> = {
    type: yield* anyOf(["message", "function_call", "reasoning"]),
    id: "dropped",
    role: "assistant",
    name: "shell",
    arguments: "{}",
  }
  for (let i = 0; i < 3; i++) item[yield* anyOf(members)] = yield* anyOf(values)
  return JSON.parse(JSON.stringify(item)) as JsonObject
})

describe("items that are read without a schema", () => {
  it.effect("are those that the schema reads, and no item is one that the schema rejects", () =>
    Effect.gen(function* () {
      let read = 0
      for (let i = 0; i < 5000; i++) {
        const item = yield* anyItem
        const plain = plainItem(item)
        const bySchema = readBySchema(item)
        if (plain === undefined) {
          assert.isTrue(Result.isFailure(bySchema), JSON.stringify(item))
          continue
        }
        read++
        assert.strictEqual(
          JSON.stringify(plain),
          JSON.stringify(Result.getOrUndefined(bySchema)),
          JSON.stringify(item),
        )
      }
      assert.isAbove(read, 1000)
    }).pipe(Random.withSeed("items")),
  )
})

const Tokens = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0), Schema.isLessThanOrEqualTo(1e12))

const wires = [false, true].map((allowsNull) => {
  const optional = (schema: Schema.Codec<number>) =>
    allowsNull ? Schema.optional(Schema.NullOr(schema)) : Schema.optional(schema)
  const names: UsageNames = {
    input: "input",
    output: "output",
    inputDetails: "inputDetails",
    outputDetails: "outputDetails",
    allowsNull,
  }
  const schema = Schema.Struct({
    input: Tokens,
    inputDetails: Schema.optional(
      Schema.NullOr(Schema.Struct({ cached_tokens: optional(Tokens) })),
    ),
    output: Tokens,
    outputDetails: Schema.optional(
      Schema.NullOr(Schema.Struct({ reasoning_tokens: optional(Tokens) })),
    ),
    total_tokens: optional(Tokens),
  })
  return [allowsNull ? "absent or null" : "absent", names, schema] as const
})

describe("usage that is read without a schema", () => {
  it.effect.each(wires)("is what a schema reads, with optional numbers %s", ([, names, schema]) =>
    Effect.gen(function* () {
      const decode = Schema.decodeUnknownOption(schema)
      let read = 0
      for (let i = 0; i < 5000; i++) {
        const mostly = (count: number) => [...values, ...values.map(() => count), count]
        const usage: unknown = JSON.parse(
          JSON.stringify(
            yield* anyOf<unknown>([...[1, 2, 3, 4, 5].map(() => ({})), null, [], "text"]).pipe(
              Effect.flatMap((base) =>
                base === null || typeof base !== "object" || Array.isArray(base)
                  ? Effect.succeed(base)
                  : Effect.all({
                      input: anyOf<unknown>(mostly(3)),
                      output: anyOf<unknown>(mostly(4)),
                      total_tokens: anyOf<unknown>([undefined, null, 9, "x"]),
                      inputDetails: Effect.flatMap(anyOf<unknown>(mostly(1)), (cached_tokens) =>
                        anyOf<unknown>([null, undefined, "x", [], {}, { cached_tokens }]),
                      ),
                      outputDetails: Effect.flatMap(anyOf<unknown>(mostly(2)), (reasoning_tokens) =>
                        anyOf<unknown>([null, undefined, 3, { reasoning_tokens }]),
                      ),
                    }),
              ),
            ),
          ),
        )
        const expected = Option.map(decode(usage), (found) => [
          found.input,
          found.inputDetails?.cached_tokens ?? 0,
          found.output,
          found.outputDetails?.reasoning_tokens ?? 0,
          found.total_tokens ?? found.input + found.output,
        ])
        const plain = readUsage(usage, names)
        if (plain !== undefined) read++
        assert.deepStrictEqual(
          plain === undefined ? undefined : Object.values(plain),
          Option.getOrUndefined(expected),
          JSON.stringify(usage),
        )
      }
      assert.isAbove(read, 100)
    }).pipe(Random.withSeed("usage")),
  )
})
