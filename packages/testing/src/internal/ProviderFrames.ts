/** Renders the server-sent events of both wires; one renderer per response. */
import type { ProviderStep, ProviderUsage } from "../ProviderScript.ts"

type Spoken = Exclude<ProviderStep, { readonly _tag: "Delay" | "End" | "Drop" | "Hang" }>

/** The renderer of one response; `step` is called in order. */
export interface ResponseFrames {
  readonly open: string
  readonly step: (step: Spoken) => string
  readonly close: (usage: ProviderUsage | null) => string
}

const data = (json: unknown) => `data: ${JSON.stringify(json)}\n\n`
const typed = (json: { readonly type: string; readonly [key: string]: unknown }) =>
  `event: ${json.type}\n${data(json)}`
const join = (pieces: ReadonlyArray<string>, frame: (piece: string) => string) =>
  pieces.map(frame).join("")
const repeated = (pieces: ReadonlyArray<string>, times: number, frame: (piece: string) => string) =>
  join(pieces, frame).repeat(times)

const responsesUsage = (usage: ProviderUsage) => ({
  input_tokens: usage.input,
  input_tokens_details: { cached_tokens: usage.cached },
  output_tokens: usage.output,
  output_tokens_details: { reasoning_tokens: usage.reasoning },
  total_tokens: usage.total,
})

const itemDone = (item: object) => typed({ type: "response.output_item.done", item })
const textDelta = (delta: string) => typed({ type: "response.output_text.delta", delta })

const summaryPart = (pieces: ReadonlyArray<string>, summary_index: number) =>
  typed({ type: "response.reasoning_summary_part.added", summary_index }) +
  join(pieces, (delta) =>
    typed({ type: "response.reasoning_summary_text.delta", delta, summary_index }),
  )

/** A message with its deltas and its finished item. */
const messageFrames = (deltas: ReadonlyArray<string>): string =>
  join(deltas, textDelta) +
  itemDone({
    type: "message",
    id: "msg_1",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: deltas.join(""), annotations: [] }],
  })

/** A reasoning item of several parts, each a list of deltas. */
const reasoningFrames = (parts: ReadonlyArray<ReadonlyArray<string>>): string =>
  parts.map(summaryPart).join("") +
  itemDone({
    type: "reasoning",
    id: "rs_1",
    summary: parts.map((pieces) => ({ type: "summary_text", text: pieces.join("") })),
    encrypted_content: "sealed",
  })

const responsesStep: ResponseFrames["step"] = (step) => {
  switch (step._tag) {
    case "Message":
      return messageFrames(step.deltas)
    case "Deltas":
      return repeated(step.deltas, step.times, textDelta)
    case "Reasoning":
      return reasoningFrames(step.parts)
    case "ToolCall":
      return itemDone({
        type: "function_call",
        id: "fc_1",
        name: step.name,
        arguments: step.arguments,
        call_id: step.callId,
      })
    case "CustomToolCall":
      return itemDone({
        type: "custom_tool_call",
        id: "ctc_1",
        name: step.name,
        input: step.input,
        call_id: step.callId,
      })
    case "Event":
      return data(step.event)
    case "Raw":
      return step.text
  }
}

/** Renders a response of the Responses API. */
export const responses = (): ResponseFrames => ({
  open: typed({ type: "response.created", response: { id: "resp_1" } }),
  step: responsesStep,
  close: (usage) =>
    typed({
      type: "response.completed",
      response: { id: "resp_1", usage: usage === null ? null : responsesUsage(usage) },
    }),
})

const choice = (delta: object, finish_reason: string | null = null) =>
  data({
    id: "chatcmpl_1",
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason }],
  })

const chatUsage = (usage: ProviderUsage) => ({
  prompt_tokens: usage.input,
  prompt_tokens_details: { cached_tokens: usage.cached },
  completion_tokens: usage.output,
  completion_tokens_details: { reasoning_tokens: usage.reasoning },
  total_tokens: usage.total,
})

// The arguments are sent in two parts, as providers do.
const chatCall = (index: number, id: string, name: string, args: string) => {
  const half = Math.ceil(args.length / 2)
  return (
    choice({
      tool_calls: [
        { index, id, type: "function", function: { name, arguments: args.slice(0, half) } },
      ],
    }) + choice({ tool_calls: [{ index, function: { arguments: args.slice(half) } }] })
  )
}

/** Renders a response of the Chat Completions API, where a custom tool call is a function call with `input`. */
export const chat = (): ResponseFrames => {
  let calls = 0
  return {
    open: choice({ role: "assistant", content: "" }),
    step: (step) => {
      switch (step._tag) {
        case "Message":
          return join(step.deltas, (content) => choice({ content }))
        case "Deltas":
          return repeated(step.deltas, step.times, (content) => choice({ content }))
        case "Reasoning":
          return join(step.parts.flat(), (piece) => choice({ reasoning: piece }))
        case "ToolCall":
          return chatCall(calls++, step.callId, step.name, step.arguments)
        case "CustomToolCall":
          return chatCall(calls++, step.callId, step.name, JSON.stringify({ input: step.input }))
        case "Event":
          return data(step.event)
        case "Raw":
          return step.text
      }
    },
    close: (usage) =>
      choice({}, calls > 0 ? "tool_calls" : "stop") +
      (usage === null ? "" : data({ choices: [], usage: chatUsage(usage) })) +
      "data: [DONE]\n\n",
  }
}
