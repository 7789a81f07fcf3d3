/** The history of a conversation as messages of an `effect/ai` prompt. Pure. */
import { parseJson } from "@colloquy/protocol/Json"
import type { ContentItem, ResponseItem } from "@colloquy/protocol/ResponseItem"
import * as Result from "effect/Result"
import type * as Prompt from "effect/ai/Prompt"

const imageOf = (url: string): Prompt.UserMessagePartEncoded => {
  const mediaType = /^data:([^;,]+)/.exec(url)?.[1] ?? "image/*"
  // The provider refuses what is no address.
  const data = url.startsWith("data:") || !URL.canParse(url) ? url : new URL(url)
  return { type: "file", mediaType, data }
}

const userPart = (item: ContentItem): Prompt.UserMessagePartEncoded =>
  item.type === "input_image" ? imageOf(item.image_url) : { type: "text", text: item.text }

const textOf = (content: ReadonlyArray<ContentItem>): string =>
  content.flatMap((item) => (item.type === "input_image" ? [] : [item.text])).join("\n")

const paramsOf = (text: string): unknown => {
  const json = parseJson(text)
  return Result.isSuccess(json) ? json.success : text
}

/** One message per item. Items that no other provider knows, such as encrypted reasoning, are left out. */
export const messagesOf = (
  items: ReadonlyArray<ResponseItem>,
): ReadonlyArray<Prompt.MessageEncoded> => {
  const names = new Map<string, string>()
  return items.flatMap((item): ReadonlyArray<Prompt.MessageEncoded> => {
    switch (item.type) {
      case "message":
        if (item.role === "assistant") {
          return [{ role: "assistant", content: [{ type: "text", text: textOf(item.content) }] }]
        }
        return item.role === "user"
          ? [{ role: "user", content: item.content.map(userPart) }]
          : [{ role: "system", content: textOf(item.content) }]
      case "function_call": {
        const { arguments: text, call_id: id, name } = item
        names.set(id, name)
        const part = { type: "tool-call" as const, id, name, params: paramsOf(text) }
        return [{ role: "assistant", content: [{ ...part, providerExecuted: false }] }]
      }
      case "function_call_output": {
        const { call_id: id, output: result } = item
        const part = { type: "tool-result" as const, id, name: names.get(id) ?? "", result }
        return [{ role: "tool", content: [{ ...part, isFailure: false }] }]
      }
      default:
        return []
    }
  })
}
