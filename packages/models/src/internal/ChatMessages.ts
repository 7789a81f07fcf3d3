/**
 * The history as chat messages (§6.6). Pure.
 *
 * Differs from the original where its mapping is wrong: calls of one assistant turn are one message with several
 * `tool_calls`, each followed by its output wherever the history has it; images are kept; an assistant text that
 * repeats the one before is kept; `developer` becomes `system`, which every provider knows.
 */
import type {
  ContentItem,
  MessageItem,
  ReasoningItem,
  ResponseItem,
} from "@colloquy/protocol/ResponseItem"

export type ChatMessage = Readonly<Record<string, unknown>>

/** One assistant message under construction. */
interface Assistant {
  content: string | null
  readonly calls: Array<{ readonly id: string; readonly entry: ChatMessage; readonly at: number }>
  reasoning: string
}

const text = (content: ReadonlyArray<ContentItem>): string =>
  content.map((part) => (part.type === "input_image" ? "" : part.text)).join("")

const userContent = (content: ReadonlyArray<ContentItem>): unknown =>
  content.some((part) => part.type === "input_image")
    ? content.map((part) =>
        part.type === "input_image"
          ? { type: "image_url", image_url: { url: part.image_url } }
          : { type: "text", text: part.text },
      )
    : text(content)

const rawReasoning = (item: ReasoningItem): string =>
  (item.content ?? []).map((part) => part.text).join("")

const callEntry = (
  item: ResponseItem,
): { readonly id: string; readonly entry: ChatMessage } | undefined => {
  switch (item.type) {
    case "function_call":
      return {
        id: item.call_id,
        entry: {
          id: item.call_id,
          type: "function",
          // Providers parse the arguments of the history; a call without any has the empty text.
          function: { name: item.name, arguments: item.arguments === "" ? "{}" : item.arguments },
        },
      }
    case "custom_tool_call":
      return {
        id: item.call_id,
        entry: { id: item.call_id, type: "custom", custom: { name: item.name, input: item.input } },
      }
    case "local_shell_call":
      return {
        id: item.call_id ?? "",
        entry: {
          id: item.call_id ?? "",
          type: "local_shell_call",
          status: item.status,
          action: item.action,
        },
      }
    default:
      return undefined
  }
}

/** Hands each call the first output with its id after it, each output once: some providers use an id again. */
const makeOutputs = (input: ReadonlyArray<ResponseItem>) => {
  const byId = new Map<string, Array<{ readonly at: number; readonly output: string }>>()
  input.forEach((item, at) => {
    if (item.type !== "function_call_output" && item.type !== "custom_tool_call_output") return
    byId.set(item.call_id, [...(byId.get(item.call_id) ?? []), { at, output: item.output }])
  })
  return (id: string, after: number): string | undefined => {
    const waiting = byId.get(id) ?? []
    const found = waiting.findIndex(({ at }) => at > after)
    return found === -1 ? undefined : waiting.splice(found, 1)[0]?.output
  }
}

const isUser = (item: ResponseItem | undefined): boolean =>
  item?.type === "message" && item.role === "user"

/** Where raw reasoning is sent back: after the last user message, and nowhere when the history ends with one (§6.6). */
const reasoningFrom = (input: ReadonlyArray<ResponseItem>): number =>
  isUser(input.at(-1)) ? Number.POSITIVE_INFINITY : input.findLastIndex(isUser)

/**
 * The `messages` of a request. An output whose call is gone is left out: providers reject it; a call without an
 * output gets `aborted`, as in §6.3.
 */
export const chatMessages = (
  instructions: string,
  input: ReadonlyArray<ResponseItem>,
): ReadonlyArray<ChatMessage> => {
  const messages: Array<ChatMessage> = [{ role: "system", content: instructions }]
  const outputOf = makeOutputs(input)
  const firstReasoning = reasoningFrom(input)
  let open: Assistant | undefined
  let reasoning = ""

  const flush = () => {
    if (open === undefined) return
    const { content, calls } = open
    const said = open.reasoning === "" ? {} : { reasoning: open.reasoning }
    if (calls.length > 0) {
      const tool_calls = calls.map(({ entry }) => entry)
      messages.push({ role: "assistant", content, tool_calls, ...said })
      for (const { id, at } of calls) {
        messages.push({ role: "tool", tool_call_id: id, content: outputOf(id, at) ?? "aborted" })
      }
    } else if (content !== null && content !== "") {
      messages.push({ role: "assistant", content, ...said })
    }
    open = undefined
  }
  const begin = (content: string | null): Assistant => {
    flush()
    open = { content, calls: [], reasoning }
    reasoning = ""
    return open
  }
  const message = (item: MessageItem) => {
    if (item.role === "assistant") {
      begin(text(item.content))
      return
    }
    flush()
    messages.push({
      role: item.role === "developer" ? "system" : item.role,
      content: item.role === "user" ? userContent(item.content) : text(item.content),
    })
  }

  input.forEach((item, at) => {
    if (item.type === "message") return message(item)
    if (item.type === "reasoning") {
      if (at <= firstReasoning) return
      reasoning += rawReasoning(item)
      return
    }
    const call = callEntry(item)
    if (call !== undefined) {
      const assistant = open ?? begin(null)
      assistant.reasoning += reasoning
      reasoning = ""
      assistant.calls.push({ ...call, at })
      return
    }
    // An output closes its turn; the call's message already carries it. Web searches have no chat form.
    if (item.type !== "web_search_call") flush()
  })
  if (open !== undefined) open.reasoning += reasoning
  flush()
  return messages
}
