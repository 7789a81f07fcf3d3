/** Requests and small answers shared by the tests of this package. */
import type { ModelEvent, ModelProvider, ModelRequest } from "@colloquy/core/ModelClient"
import { ConversationId } from "@colloquy/protocol/Ids"
import type { ResponseItem } from "@colloquy/protocol/ResponseItem"
import * as Duration from "effect/Duration"
import type { WireDecoder } from "../../src/internal/WireDecoder.ts"
import { providerDefaults } from "../../src/Providers.ts"

/** Id of the conversation of all requests. */
export const conversationId = ConversationId.make("019b2f00-0000-7000-8000-000000000000")

/** A provider with defaults. */
export const provider = (
  wire: ModelProvider["wire"],
  overrides?: Partial<ModelProvider>,
): ModelProvider => ({
  ...providerDefaults,
  id: "mock",
  name: "Mock",
  wire,
  baseUrl: "http://mock.test/v1",
  requestMaxRetries: 0,
  streamMaxRetries: 0,
  streamIdleTimeout: Duration.seconds(300),
  ...overrides,
})

/** A message of the user. */
export const user = (text: string): ResponseItem => ({
  type: "message",
  role: "user",
  content: [{ type: "input_text", text }],
})
/** A message of the model. */
export const assistant = (text: string): ResponseItem => ({
  type: "message",
  role: "assistant",
  content: [{ type: "output_text", text }],
})
/** A call of a tool. */
export const call = (call_id: string, name = "shell", args = "{}"): ResponseItem => ({
  type: "function_call",
  name,
  arguments: args,
  call_id,
})
/** The output of a call. */
export const output = (call_id: string, text: string): ResponseItem => ({
  type: "function_call_output",
  call_id,
  output: text,
})

/** A request with defaults. */
export const request = (overrides?: Partial<ModelRequest>): ModelRequest => ({
  conversationId,
  provider: provider("responses"),
  model: "mock-model",
  instructions: "Be brief.",
  input: [user("hello")],
  tools: [],
  ...overrides,
})

/** The usage that every script reports by default, as the core sees it. */
export const usage = {
  input_tokens: 11,
  cached_input_tokens: 3,
  output_tokens: 7,
  reasoning_output_tokens: 2,
  total_tokens: 18,
}

/** Feeds whole events and then the end; returns all events and the first fault as its text. */
export const decodeAll = (
  decoder: WireDecoder,
  data: ReadonlyArray<unknown>,
): { readonly events: ReadonlyArray<ModelEvent>; readonly fault?: string } => {
  const events: Array<ModelEvent> = []
  for (const event of data) {
    const text = typeof event === "string" ? event : JSON.stringify(event)
    const fault = decoder.event(text, events).error
    if (fault !== undefined) return { events, fault: fault.message }
  }
  const fault = decoder.end(events).error
  return fault === undefined ? { events } : { events, fault: fault.message }
}
