/**
 * Converts the history to chat messages. Pure.
 *
 * Differs from the original where its mapping loses information: calls of one assistant turn are
 * one message with several `tool_calls`, each followed by its output wherever the history has it;
 * images are kept; an assistant text that repeats the one before is kept; `developer` becomes
 * `system`, which every provider knows.
 */
import type {
  ContentItem,
  MessageItem,
  ReasoningItem,
  ResponseItem,
} from "@colloquy/protocol/ResponseItem"

/** A message in the form of the wire. */
export type ChatMessage = Readonly<Record<string, unknown>>

/** A call of the history in the form of the wire, with its id. */
interface CallEntry {
  readonly id: string
  readonly entry: ChatMessage
}

/** One assistant message under construction. */
interface Assistant {
  content: string | null
  readonly calls: Array<CallEntry & { readonly at: number }>
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

const callEntry = (item: ResponseItem): CallEntry | undefined => {
  switch (item.type) {
    case "function_call":
      return {
        id: item.call_id,
        entry: {
          id: item.call_id,
          type: "function",
          // Providers parse the arguments, and the empty text of a call without arguments is not
          // JSON.
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

/**
 * Assigns each call the first output with its id that follows it. Each output is assigned once,
 * because some providers use an id again.
 */
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

/**
 * Index of the item behind which raw reasoning is sent back: that of the last user message.
 * Infinite, so that none is sent, when the history ends with a user message.
 */
const reasoningFrom = (input: ReadonlyArray<ResponseItem>): number =>
  isUser(input.at(-1)) ? Number.POSITIVE_INFINITY : input.findLastIndex(isUser)

/** The messages of a request under construction. */
class MessageList {
  readonly messages: Array<ChatMessage>
  private readonly outputOf: ReturnType<typeof makeOutputs>
  private assistant: Assistant | undefined
  /** Raw reasoning that belongs to the next assistant message. */
  private reasoning = ""

  constructor(instructions: string, outputOf: ReturnType<typeof makeOutputs>) {
    this.messages = [{ role: "system", content: instructions }]
    this.outputOf = outputOf
  }

  addMessage(item: MessageItem): void {
    if (item.role === "assistant") {
      this.startAssistant(text(item.content))
      return
    }
    this.finishAssistant()
    this.messages.push({
      role: item.role === "developer" ? "system" : item.role,
      content: item.role === "user" ? userContent(item.content) : text(item.content),
    })
  }

  addReasoning(item: ReasoningItem): void {
    this.reasoning += rawReasoning(item)
  }

  /** @param at index of the call in the history */
  addCall(call: CallEntry, at: number): void {
    const assistant = this.assistant ?? this.startAssistant(null)
    assistant.reasoning += this.reasoning
    this.reasoning = ""
    assistant.calls.push({ ...call, at })
  }

  /** Ends the assistant message, if there is one, with the outputs of its calls. */
  finishAssistant(): void {
    if (this.assistant === undefined) return
    const { calls, content, reasoning } = this.assistant
    this.assistant = undefined
    const thought = reasoning === "" ? {} : { reasoning }
    if (calls.length > 0) {
      const tool_calls = calls.map(({ entry }) => entry)
      this.messages.push({ role: "assistant", content, tool_calls, ...thought })
      for (const { id, at } of calls) {
        const output = this.outputOf(id, at) ?? "aborted"
        this.messages.push({ role: "tool", tool_call_id: id, content: output })
      }
    } else if (content !== null && content !== "") {
      this.messages.push({ role: "assistant", content, ...thought })
    }
  }

  /** Ends the list. */
  end(): ReadonlyArray<ChatMessage> {
    if (this.assistant !== undefined) this.assistant.reasoning += this.reasoning
    this.finishAssistant()
    return this.messages
  }

  private startAssistant(content: string | null): Assistant {
    this.finishAssistant()
    this.assistant = { content, calls: [], reasoning: this.reasoning }
    this.reasoning = ""
    return this.assistant
  }
}

/**
 * The `messages` of a request. An output without a call is left out, because providers reject it; a
 * call without an output gets the output `aborted`, as in the core's history.
 */
export const chatMessages = (
  instructions: string,
  input: ReadonlyArray<ResponseItem>,
): ReadonlyArray<ChatMessage> => {
  const list = new MessageList(instructions, makeOutputs(input))
  const firstReasoning = reasoningFrom(input)
  input.forEach((item, at) => {
    if (item.type === "message") return list.addMessage(item)
    if (item.type === "reasoning") {
      if (at > firstReasoning) list.addReasoning(item)
      return
    }
    const call = callEntry(item)
    if (call !== undefined) return list.addCall(call, at)
    // An output ends the assistant's message, which already carries the call. Web searches have no form on this wire.
    if (item.type !== "web_search_call") list.finishAssistant()
  })
  return list.end()
}
