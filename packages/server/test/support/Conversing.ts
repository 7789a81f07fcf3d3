/** Helpers that send and read the messages of the conversation tools in tests. */
import * as Script from "@colloquy/testing/ProviderScript"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Harness } from "./Harness.ts"
import { callResult, type WireMessage } from "./Wire.ts"

export const echo: Script.ProviderScript = ({ lastUserText }) =>
  Script.reply(Script.text(`you said ${lastUserText}`))

const InitialState = Schema.Struct({
  events: Schema.Array(Schema.Struct({ msg: Schema.Struct({ type: Schema.String }) })),
})

export const text = (words: string) => [{ type: "text", text: words }]

/** The value of a result, which has it twice: as text and as structured content. */
export const valueOf = (message: WireMessage): Readonly<Record<string, unknown>> => {
  const { content, structuredContent } = callResult(message)
  const [first] = content
  const repeated: unknown = JSON.parse(first?.text ?? "null")
  if (JSON.stringify(repeated) !== JSON.stringify(structuredContent)) {
    throw new Error(`text and structured content differ: ${JSON.stringify(message)}`)
  }
  return structuredContent ?? {}
}

/** Creates a conversation and resolves with its id. */
export const created = (server: Harness, id: unknown = "c", args: unknown = {}) =>
  Effect.map(server.call(id, "conversationCreate", args), (answer) =>
    String(valueOf(answer)["conversation_id"]),
  )

export const send = (
  server: Harness,
  id: unknown,
  conversation: string,
  words: string,
  more: object = {},
) =>
  server.call(id, "conversationSendMessage", {
    conversation_id: conversation,
    content: text(words),
    ...more,
  })

/** Notifications of streams, in order: their methods and contents. */
export const streamed = ({ messages }: Pick<Harness, "messages">) =>
  messages.flatMap(({ method, params }) =>
    method === undefined || method === "codex/event" || method === "elicitation/create"
      ? []
      : [{ method, params }],
  )

export const methods = (server: Pick<Harness, "messages">): ReadonlyArray<string> =>
  streamed(server).map(({ method }) => method)

/** The types of the events of each initial state. */
export const initialStates = (
  server: Pick<Harness, "messages">,
): ReadonlyArray<ReadonlyArray<string>> =>
  streamed(server).flatMap(({ method, params }) => {
    if (method !== "notifications/initial_state") return []
    const state = params?.["initial_state"]
    const { events } = Schema.decodeUnknownSync(InitialState)(state)
    return [events.map(({ msg }) => msg.type)]
  })

/** The events of a turn that the model answers at once: those that are delivered live, and those that are recorded. */
export const liveTurn = [
  "task_started",
  "agent_message_delta",
  "agent_message",
  "token_count",
  "task_complete",
]
export const quietTurn = ["task_started", "agent_message", "token_count", "task_complete"]
