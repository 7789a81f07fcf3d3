/**
 * Reads the items that most responses consist of without a schema, whose first use takes milliseconds and whose later ones
 * take more than the rest of a response together. Gives exactly what the schemas of `ResponsesItem.ts` give, or undefined:
 * for another type, and for members of unexpected types, whose error texts are those of the schemas.
 */
import type { ContentItem, ReasoningItem, ResponseItem } from "@colloquy/protocol/ResponseItem"
import { isObject, type JsonObject } from "./JsonObject.ts"

/** The text of a part; undefined for a part of another kind, which is dropped. */
const contentOf = (part: unknown): ContentItem | undefined => {
  if (!isObject(part)) return undefined
  const { refusal, text, type } = part
  if (type === "output_text" && typeof text === "string") return { type: "output_text", text }
  if (type === "refusal" && typeof refusal === "string") {
    return { type: "output_text", text: refusal }
  }
  return undefined
}

/** The parts of a message that have a text. */
export const contentParts = (parts: ReadonlyArray<unknown>): ReadonlyArray<ContentItem> =>
  parts.flatMap((part) => contentOf(part) ?? [])

const message = ({ content, role }: JsonObject): ResponseItem | undefined => {
  const parts = content ?? []
  return typeof role === "string" && Array.isArray(parts)
    ? { type: "message", role, content: contentParts(parts) }
    : undefined
}

const functionCall = (item: JsonObject): ResponseItem | undefined => {
  const { arguments: args, call_id = null, name } = item
  if (typeof name !== "string" || name === "" || typeof args !== "string") return undefined
  return call_id === null || typeof call_id === "string"
    ? { type: "function_call", name, arguments: args, call_id: call_id ?? "" }
    : undefined
}

/** The texts of a list of parts; undefined when one of them is of another kind. */
const textsOf = <T extends string>(
  parts: unknown,
  types: ReadonlyArray<T>,
): ReadonlyArray<{ readonly type: T; readonly text: string }> | undefined => {
  if (parts === undefined || parts === null) return []
  if (!Array.isArray(parts)) return undefined
  const texts: Array<{ readonly type: T; readonly text: string }> = []
  for (const part of parts as ReadonlyArray<unknown>) {
    if (!isObject(part)) return undefined
    const type = types.find((known) => known === part["type"])
    const { text } = part
    if (type === undefined || typeof text !== "string") return undefined
    texts.push({ type, text })
  }
  return texts
}

const reasoning = (item: JsonObject): ResponseItem | undefined => {
  const { encrypted_content: sealed } = item
  const summary = textsOf(item["summary"], ["summary_text"])
  const content: ReasoningItem["content"] = textsOf(item["content"], ["reasoning_text", "text"])
  if (summary === undefined || content === undefined) return undefined
  if (sealed !== undefined && sealed !== null && typeof sealed !== "string") return undefined
  return {
    type: "reasoning",
    summary,
    ...(content.length === 0 ? {} : { content }),
    ...(sealed === undefined ? {} : { encrypted_content: sealed }),
  }
}

/** The item; undefined when its schema has to read it. */
export const plainItem = (item: JsonObject): ResponseItem | undefined => {
  switch (item["type"]) {
    case "message":
      return message(item)
    case "function_call":
      return functionCall(item)
    case "reasoning":
      return reasoning(item)
    default:
      return undefined
  }
}
