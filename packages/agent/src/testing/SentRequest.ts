/** What the model was sent, in a form that a test compares whole. Pure. */
import type { ModelRequest } from "@colloquy/core/ModelClient"
import type { ContentItem } from "@colloquy/protocol/ResponseItem"

/** A request in short. */
export interface SentRequest {
  readonly instructions: string
  /** The messages of the history, oldest first, as `user: text` and `assistant: text`. */
  readonly messages: ReadonlyArray<string>
  /** Names of the tools that it offered. */
  readonly tools: ReadonlyArray<string>
  /** Results of tool calls since the model's last message, in the order of the calls. */
  readonly outputs: ReadonlyArray<string>
}

const textOf = (content: ReadonlyArray<ContentItem>): string =>
  content.map((part) => (part.type === "input_image" ? "[image]" : part.text)).join("\n")

/** The request in short. */
export const sentOf = ({ input, instructions, tools }: ModelRequest): SentRequest => {
  const answered = input.findLastIndex((item) => item.type === "message")
  return {
    instructions,
    messages: input.flatMap((item) =>
      item.type === "message" ? [`${item.role}: ${textOf(item.content)}`] : [],
    ),
    tools: tools.map((tool) => ("name" in tool ? tool.name : tool.type)),
    outputs: input
      .slice(answered + 1)
      .flatMap((item) =>
        item.type === "function_call_output" || item.type === "custom_tool_call_output"
          ? [item.output]
          : [],
      ),
  }
}
