/** The input of a user in params, as the core takes it. */
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { InputItem } from "@colloquy/protocol/ResponseItem"
import { maxInputCharacters } from "@colloquy/protocol/thread/Turns"
import type { UserInputParam } from "@colloquy/protocol/thread/Values"
import * as Effect from "effect/Effect"
import { invalid } from "../app/AppErrors.ts"
import { badValue } from "./ThreadErrors.ts"

const coreItem = (item: UserInputParam): InputItem => {
  switch (item.type) {
    case "text":
      return { type: "text", text: item.text }
    case "image":
      return { type: "image", image_url: item.url }
    case "localImage":
      return { type: "local_image", path: item.path }
    case "skill":
      return { type: "text", text: `Use the skill \`${item.name}\` (${item.path}).` }
    case "mention":
      return { type: "text", text: `[${item.name}](${item.path})` }
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
