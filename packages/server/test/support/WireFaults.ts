/** What is wrong with a message, read as strictly as the strictest client reads it. */
import { isVoid } from "@colloquy/protocol/MethodCodec"
import { assert } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

export type Members = Readonly<Record<string, unknown>>

export const isMembers = (u: unknown): u is Members =>
  typeof u === "object" && u !== null && !Array.isArray(u)

/** Every value that was read as one of a later version, which no recording has. */
const unknownIn = (value: unknown, path = ""): ReadonlyArray<string> => {
  if (Array.isArray(value)) return value.flatMap((one, index) => unknownIn(one, `${path}/${index}`))
  if (!isMembers(value)) return []
  if (value["type"] === "unknown_item" || Object.keys(value).join() === "unknown") return [path]
  return Object.entries(value).flatMap(([name, one]) => unknownIn(one, `${path}/${name}`))
}

/** What is wrong with a value: excess, missing or ill-typed members, and values that are not defined. */
export const faults = (schema: Schema.Top, value: unknown): ReadonlyArray<string> => {
  if (isVoid(schema)) return []
  const codec = schema as Schema.Codec<unknown>
  const decoded = Schema.decodeUnknownResult(codec, {
    errors: "all",
    onExcessProperty: "error",
  })(value)
  if (Result.isFailure(decoded)) return [decoded.failure.message]
  const unknown = unknownIn(decoded.success)
  if (unknown.length > 0) return [`unknown at ${unknown.join()}`]
  const encoded = Schema.encodeUnknownResult(codec)(decoded.success)
  if (Result.isFailure(encoded)) return [`not written: ${encoded.failure.message}`]
  assert.deepStrictEqual(encoded.success, value)
  return []
}
