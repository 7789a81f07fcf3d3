/** Reads parts of the original program's lines that the lines of this program do not have. Pure. */
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import type { ContentItem, ResponseItem } from "@colloquy/protocol/ResponseItem"

type Fields = Readonly<Record<string, unknown>>

/**
 * Removes members that are `null`, which the original writes for absent values, and replaces an
 * output object, as the version of August 2025 wrote it, by its `content`.
 */
export const normalizeItem = (value: Fields): Fields =>
  Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      if (member === null) return []
      const isOutput = name === "output" && typeof member === "object" && "content" in member
      return [[name, isOutput ? member.content : member]]
    }),
  )

const textOf = (content: ReadonlyArray<ContentItem>): string =>
  content.flatMap((part) => ("text" in part ? [part.text] : [])).join("\n")

/** Beginning of messages that describe the environment, or a command of the user, to the model. No person wrote them. */
const sessionPrefix = /^\s*<(user_instructions|environment_context|user_shell_command)\b/i

const displayedEvents = (item: ResponseItem): ReadonlyArray<EventMsg> => {
  if (item.type === "reasoning") {
    return item.summary.map(({ text }) => ({ type: "agent_reasoning", text }))
  }
  if (item.type !== "message") return []
  const message = textOf(item.content)
  if (message === "") return []
  if (item.role === "assistant") return [{ type: "agent_message", message }]
  return item.role === "user" && !sessionPrefix.test(message)
    ? [{ type: "user_message", message, kind: "plain" }]
    : []
}

/**
 * The events that an item stands for. The version of August 2025 stored only items; the events that
 * listeners received are derived from them.
 */
export const eventsOfAugustItem = (item: ResponseItem): ReadonlyArray<EventMsg> => [
  { type: "raw_response_item", item },
  ...displayedEvents(item),
]

/**
 * The working directory in a message that describes the environment to the model, in its present
 * (`<cwd>…</cwd>`) or its older wording.
 */
export const cwdInEnvironment = (item: ResponseItem): string | undefined => {
  if (item.type !== "message" || item.role !== "user") return undefined
  const text = textOf(item.content)
  if (!sessionPrefix.test(text)) return undefined
  return (/<cwd>([^<]+)<\/cwd>/.exec(text) ?? /working directory: (.+)$/im.exec(text))?.[1]?.trim()
}
