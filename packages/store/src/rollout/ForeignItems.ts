/** What lines of the original say beyond what ours do. Pure. */
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import type { ContentItem, ResponseItem } from "@colloquy/protocol/ResponseItem"

type Fields = Readonly<Record<string, unknown>>

/** The original writes `null` for what is absent, and outputs of August are objects with a `content`. */
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

/** Messages that tell the model where it works are no words of a person (§5.2). */
const sessionPrefix = /^\s*<(user_instructions|environment_context)\b/i

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

/** August kept the items alone: what listeners were told follows from them. */
export const eventsOfAugustItem = (item: ResponseItem): ReadonlyArray<EventMsg> => [
  { type: "raw_response_item", item },
  ...displayedEvents(item),
]

/** `<cwd>…</cwd>` or the older wording, from what the model was told of its environment. */
export const cwdInEnvironment = (item: ResponseItem): string | undefined => {
  if (item.type !== "message" || item.role !== "user") return undefined
  const text = textOf(item.content)
  if (!sessionPrefix.test(text)) return undefined
  return (/<cwd>([^<]+)<\/cwd>/.exec(text) ?? /working directory: (.+)$/im.exec(text))?.[1]?.trim()
}
