import { LogRecord } from "@colloquy/core/LogRecord"
import { EventMsg } from "@colloquy/protocol/EventMsg"
import { ResponseItem } from "@colloquy/protocol/ResponseItem"
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { decodesToItself } from "../../src/internal/DecodesToItself.ts"

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null

/** Every object and array of a value, the outermost first. */
const placesOf = (value: unknown): ReadonlyArray<Record<string, unknown>> =>
  isObject(value) ? [value, ...Object.values(value).flatMap(placesOf)] : []

const foreign: ReadonlyArray<unknown> = [null, 1.5, -1, 2 ** 60, "", true, [], {}, [null], { a: 1 }]

/** The JSON of a value with one member replaced, removed or added somewhere. */
const damaged = (value: unknown, choices: ReadonlyArray<number>): unknown => {
  const copy: unknown = JSON.parse(JSON.stringify(value))
  const [where = 0, which = 0, how = 0, what = 0] = choices
  const places = placesOf(copy)
  const place = places[where % places.length]
  if (place === undefined) return copy
  const names = Object.keys(place)
  const name = names[which % Math.max(1, names.length)] ?? "more"
  if (how % 4 === 0) delete place[name]
  else if (how % 4 === 1) Object.defineProperty(place, "__proto__", { value: 1, enumerable: true })
  else place[how % 4 === 2 ? "more" : name] = foreign[what % foreign.length]
  return JSON.parse(JSON.stringify(copy))
}

const choice = Schema.Int.pipe(Schema.check(Schema.isBetween({ minimum: 0, maximum: 1000 })))
const choices = Arbitrary.schema(Schema.Tuple([choice, choice, choice, choice]))
const options = { arbitrary: { runs: 2000 } }

const agrees = <A>(schema: Schema.Codec<A, unknown>) => {
  const test = decodesToItself(schema)
  const decode = Schema.decodeUnknownResult(schema)
  return (value: unknown): boolean => {
    if (!test(value)) return false
    assert.deepStrictEqual(decode(value), Result.succeed(value))
    return true
  }
}

describe("a value that decodes to itself", () => {
  const event = agrees(EventMsg)
  const item = agrees(ResponseItem)
  const record = agrees(LogRecord)

  it.prop(
    "is one that the schema decodes to an equal value",
    {
      msg: Arbitrary.schema(EventMsg),
      history: Arbitrary.schema(ResponseItem),
      stored: Arbitrary.schema(LogRecord),
    },
    ({ history, msg, stored }) => {
      for (const [test, value] of [
        [event, msg],
        [item, history],
        [record, stored],
      ] as const) {
        test(JSON.parse(JSON.stringify(value)))
      }
    },
    options,
  )

  it.prop(
    "is no value with a member that decoding rejects, converts or leaves out",
    {
      msg: Arbitrary.schema(EventMsg),
      history: Arbitrary.schema(ResponseItem),
      stored: Arbitrary.schema(LogRecord),
      choices,
    },
    ({ choices, history, msg, stored }) => {
      event(damaged(msg, choices))
      item(damaged(history, choices))
      record(damaged(stored, choices))
    },
    options,
  )

  it.effect("is one of every event type without members of any name", () =>
    Effect.gen(function* () {
      const test = decodesToItself(EventMsg)
      const undecided: Array<string> = []
      for (const member of EventMsg.members) {
        const drawn = Arbitrary.schema(Schema.toType(member as Schema.Codec<EventMsg>))
        const messages = yield* Arbitrary.sampleEffect(drawn, { count: 50, seed: 1 })
        if (!messages.some((msg) => test(JSON.parse(JSON.stringify(msg))))) {
          undecided.push(member.fields.type.literal)
        }
      }
      assert.deepStrictEqual(undecided, [
        "apply_patch_approval_request",
        "patch_apply_begin",
        "mcp_list_tools_response",
        "elicitation_request",
      ])
    }),
  )

  it("is not one whose union has an earlier member that accepts less of it", () => {
    const either = Schema.Union([
      Schema.Struct({ a: Schema.Int }),
      Schema.Struct({ a: Schema.Int, b: Schema.Int }),
    ])
    const test = decodesToItself(either)
    assert.isTrue(test({ a: 1 }))
    assert.isFalse(test({ a: 1, b: 2 }))
    assert.isFalse(test({ a: 1.5 }))
    assert.isFalse(decodesToItself(Schema.NumberFromString)("1"))
  })
})
