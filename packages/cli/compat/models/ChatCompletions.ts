/** The Chat Completions API, which opencode uses with OpenAI-compatible providers. */
import { events, textOf } from "./Events.ts"
import type { Step, Wire } from "./ScriptedModel.ts"

interface Body {
  readonly stream?: boolean
  readonly tools?: ReadonlyArray<{ readonly function: { readonly name: string } }>
  readonly messages: ReadonlyArray<{ readonly role: string; readonly content: unknown }>
}

const deltaOf = (step: Step): object => {
  if ("say" in step) return { role: "assistant", content: step.say }
  const call = { name: step.tool, arguments: JSON.stringify(step.args) }
  return {
    role: "assistant",
    tool_calls: [{ index: 0, id: "call_1", type: "function", function: call }],
  }
}

const head = { id: "response", created: 1, model: "scripted" }
const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }

const streamed = (step: Step): string => {
  const reason = "say" in step ? "stop" : "tool_calls"
  const chunk = (choices: ReadonlyArray<object>) => ({
    ...head,
    object: "chat.completion.chunk",
    choices,
  })
  const chunks = [
    chunk([{ index: 0, delta: deltaOf(step), finish_reason: null }]),
    chunk([{ index: 0, delta: {}, finish_reason: reason }]),
    { ...chunk([]), usage },
  ]
  return `${events(chunks)}data: [DONE]\n\n`
}

export const chatCompletions: Wire = {
  read: (path, body) => {
    if (!path.startsWith("/v1/chat/completions")) return undefined
    const { messages, stream, tools = [] } = body as Body
    return {
      tools: tools.map((tool) => tool.function.name),
      toolCharacters: JSON.stringify(tools).length,
      results: messages.filter(({ role }) => role === "tool").map(({ content }) => textOf(content)),
      isStream: stream === true,
    }
  },
  write: (step, isStream) => {
    if (isStream) return streamed(step)
    const reason = "say" in step ? "stop" : "tool_calls"
    const choice = { index: 0, message: deltaOf(step), finish_reason: reason }
    return JSON.stringify({ ...head, object: "chat.completion", choices: [choice], usage })
  },
  other: "{}",
}
