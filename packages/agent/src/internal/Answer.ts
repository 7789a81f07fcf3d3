/** Structured answers: what the model gets of the schema, and what its text says by it. Pure. */
import { parseJson } from "@colloquy/protocol/Json"
import { jsonSchemaOf } from "@colloquy/protocol/JsonSchema"
import { describeFaults, faultsOf } from "@colloquy/protocol/Faults"
import { InputItem } from "@colloquy/protocol/ResponseItem"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Input } from "../Turn.ts"

const decodeItems = Schema.decodeUnknownResult(Schema.Array(InputItem), { errors: "all" })

/**
 * The items of an input; the failure names the item and what was expected.
 *
 * @param readsFiles whether images can be given by their path
 */
export const itemsOf = (
  input: Input,
  readsFiles: boolean,
): Result.Result<ReadonlyArray<InputItem>, string> => {
  if (typeof input === "string") return Result.succeed([{ type: "text", text: input }])
  if (input.length === 0) return Result.fail("input: expected at least one item, got none")
  const items = Result.mapError(decodeItems(input), (error) =>
    describeFaults("input", faultsOf(error)),
  )
  const local = input.findIndex(({ type }) => type === "local_image")
  return Result.isFailure(items) || readsFiles || local === -1
    ? items
    : Result.fail(
        `input.${local}: expected an image by \`image_url\`, because an agent without a machine reads no files`,
      )
}

/** The input, and what the answer has to look like. */
export const withSchema = (
  items: ReadonlyArray<InputItem>,
  schema: Schema.Top,
): ReadonlyArray<InputItem> => [
  ...items,
  {
    type: "text",
    text: `Answer with one JSON value and nothing else, without a code fence. It must match this JSON Schema:\n${JSON.stringify(jsonSchemaOf(schema, { closed: true }))}`,
  },
]

/** The input of the second attempt. */
export const correction = (problem: string): ReadonlyArray<InputItem> => [
  {
    type: "text",
    text: `Your answer does not match the JSON Schema: ${problem}\nAnswer again, with the corrected JSON value and nothing else.`,
  },
]

/** The content of a text that is one fenced block: models add fences although they were told not to. */
const unfenced = (text: string): string =>
  /^\s*```[a-z]*\s*\n([\s\S]*?)\n?\s*```\s*$/i.exec(text)?.[1] ?? text

/** The value that a text says; the failure names the place and what was expected. */
export const decodeAnswer = <A>(
  text: string,
  schema: Schema.Codec<A, unknown>,
): Result.Result<A, string> => {
  const json = parseJson(unfenced(text))
  if (Result.isFailure(json)) return Result.fail("expected one JSON value and no other text")
  return Result.mapError(
    Schema.decodeUnknownResult(Schema.toCodecJson(schema), {
      errors: "all",
      onExcessProperty: "error",
    })(json.success),
    ({ message }) => message.replaceAll(/\s*\n\s*/g, " "),
  )
}
