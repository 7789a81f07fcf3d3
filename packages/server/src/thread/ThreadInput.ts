/** The input of a user in params, as the core takes it. */
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import { defined } from "@colloquy/protocol/Defined"
import type { InputItem, InputPart } from "@colloquy/protocol/ResponseItem"
import { maxInputCharacters } from "@colloquy/protocol/thread/Turns"
import type { UserInputParam } from "@colloquy/protocol/thread/Values"
import * as Effect from "effect/Effect"
import { invalid } from "../app/AppErrors.ts"
import { badValue } from "./ThreadErrors.ts"

type TextElements = NonNullable<Extract<UserInputParam, { readonly type: "text" }>["text_elements"]>
type Elements = NonNullable<Extract<InputPart, { readonly type: "text" }>["elements"]>

const coreElements = (elements: TextElements): Elements =>
  elements.map(({ byteRange, placeholder }) => ({
    byte_range: byteRange,
    ...defined({ placeholder: placeholder ?? undefined }),
  }))

const detailOf = ({ detail }: { readonly detail?: string | null | undefined }) =>
  defined({ detail: detail ?? undefined })

const coreItem = (item: UserInputParam): InputItem => {
  switch (item.type) {
    case "text": {
      const { text, text_elements: elements } = item
      const isPlain = elements == null || elements.length === 0
      return { type: "text", text, ...(isPlain ? {} : { elements: coreElements(elements) }) }
    }
    case "image":
      return { type: "image", image_url: item.url, ...detailOf(item) }
    case "localImage":
      return { type: "local_image", path: item.path, ...detailOf(item) }
    case "skill": {
      const { name, path } = item
      const shown = { type: "skill", name, path } as const
      return { type: "text", text: `Use the skill \`${name}\` (${path}).`, shown }
    }
    case "mention": {
      const { name, path } = item
      return { type: "text", text: `[${name}](${path})`, shown: { type: "mention", name, path } }
    }
  }
}

/** Code points, as the original counts. */
const charactersOf = (text: string): number => {
  let count = 0
  for (const _ of text) count++
  return count
}

/** The items of the input. Refuses images that are not part of it, and more text than a client may send at once. */
export const inputItems = (
  input: ReadonlyArray<UserInputParam>,
): Effect.Effect<ReadonlyArray<InputItem>, JsonRpcError> => {
  const isRemote = input.some(({ type, ...rest }) => {
    const url = "url" in rest ? rest.url : undefined
    return type === "image" && url !== undefined && !url.startsWith("data:")
  })
  if (isRemote) {
    return Effect.fail(
      invalid("remote image URLs are not supported; use an inline data URL instead"),
    )
  }
  const texts = input.flatMap((item) => (item.type === "text" ? [item.text] : []))
  const units = texts.reduce((sum, text) => sum + text.length, 0)
  if (units > maxInputCharacters) {
    const actual_chars = texts.reduce((sum, text) => sum + charactersOf(text), 0)
    if (actual_chars > maxInputCharacters) {
      return Effect.fail(
        badValue(`Input exceeds the maximum length of ${maxInputCharacters} characters.`, {
          input_error_code: "input_too_large",
          max_chars: maxInputCharacters,
          actual_chars,
        }),
      )
    }
  }
  return Effect.succeed(input.map(coreItem))
}
