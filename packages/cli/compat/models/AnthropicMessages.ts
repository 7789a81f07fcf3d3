/** The Messages API, which Claude Code uses at the address in `ANTHROPIC_BASE_URL`. */
import { namedEvents, textOf } from "./Events.ts"
import type { Step, Wire } from "./ScriptedModel.ts"

interface Body {
  readonly stream?: boolean
  readonly tools?: ReadonlyArray<{ readonly name: string }>
  readonly messages: ReadonlyArray<{ readonly content: unknown }>
}

interface Block {
  readonly type: string
  readonly content?: unknown
}

const blocksOf = (content: unknown): ReadonlyArray<Block> =>
  Array.isArray(content) ? (content as ReadonlyArray<Block>) : []

const message = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "scripted",
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
}

const reasonOf = (step: Step): string => ("say" in step ? "end_turn" : "tool_use")

const blockOf = (step: Step, id: string): object =>
  "say" in step
    ? { type: "text", text: step.say }
    : { type: "tool_use", id, name: step.tool, input: step.args }

const streamed = (step: Step, id: string): string => {
  const [empty, delta] =
    "say" in step
      ? [
          { type: "text", text: "" },
          { type: "text_delta", text: step.say },
        ]
      : [
          { type: "tool_use", id, name: step.tool, input: {} },
          { type: "input_json_delta", partial_json: JSON.stringify(step.args) },
        ]
  return namedEvents([
    { type: "message_start", message: { ...message, content: [], stop_reason: null } },
    { type: "content_block_start", index: 0, content_block: empty },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: reasonOf(step) },
      usage: { output_tokens: 1 },
    },
    { type: "message_stop" },
  ])
}

let lastCall = 0

export const anthropicMessages: Wire = {
  read: (path, body) => {
    if (!/^\/v1\/messages(?:\?|$)/.test(path)) return undefined
    const { messages, stream, tools = [] } = body as Body
    const blocks = messages.flatMap(({ content }) => blocksOf(content))
    return {
      tools: tools.map(({ name }) => name),
      toolCharacters: JSON.stringify(tools).length,
      results: blocks
        .filter(({ type }) => type === "tool_result")
        .map(({ content }) => textOf(content)),
      isStream: stream === true,
    }
  },
  write: (step, isStream) => {
    const id = `toolu_${++lastCall}`
    if (isStream) return streamed(step, id)
    return JSON.stringify({ ...message, content: [blockOf(step, id)], stop_reason: reasonOf(step) })
  },
  other: '{"input_tokens":1}',
}
