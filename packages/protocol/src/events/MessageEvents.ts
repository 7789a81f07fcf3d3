/** Events about what the user and the agent said: messages, reasoning, the deltas of both, and the items of the history. */
import * as Schema from "effect/Schema"
import { event, original } from "../EventDefinition.ts"
import { InputPart, ResponseItem } from "../ResponseItem.ts"

const delta = { delta: Schema.String }
const text = { text: Schema.String }

/** The event `agent_message`; its `doc` describes it. */
export const AgentMessage = event(
  "agent_message",
  { message: Schema.String },
  {
    ...original,
    doc: "A complete message of the agent.",
    inRollout: true,
    completes: ["agent_message_delta"],
  },
)
/** A complete message of the agent. */
export type AgentMessage = typeof AgentMessage.Type

/** The event `user_message`; its `doc` describes it. */
export const UserMessage = event(
  "user_message",
  {
    message: Schema.String,
    kind: Schema.optionalKey(
      Schema.Literals(["plain", "user_instructions", "environment_context"]),
    ),
    images: Schema.optionalKey(Schema.Array(Schema.String)),
    /** Id that the client gave the message. */
    client_id: Schema.optionalKey(Schema.String),
    /** The input as it was sent; absent when `message` and `images` say all of it. */
    parts: Schema.optionalKey(Schema.Array(InputPart)),
  },
  {
    doc: "A message of the user, or of the client on the user's behalf. Up to 0.57 the original recorded it and did not send it: its clients would show the message twice.",
    since: "0.25",
    inRollout: true,
  },
)
/**
 * A message of the user, or of the client on the user's behalf. Up to 0.57 the original recorded it and did not send
 * it: its clients would show the message twice.
 */
export type UserMessage = typeof UserMessage.Type

/** The event `agent_message_delta`; its `doc` describes it. */
export const AgentMessageDelta = event("agent_message_delta", delta, {
  ...original,
  doc: "A piece of a message that is still being received.",
  durable: false,
})
/** A piece of a message that is still being received. */
export type AgentMessageDelta = typeof AgentMessageDelta.Type

/** The event `agent_reasoning`; its `doc` describes it. */
export const AgentReasoning = event("agent_reasoning", text, {
  ...original,
  doc: "A complete section of the agent's reasoning summary.",
  inRollout: true,
  completes: ["agent_reasoning_delta"],
})
/** A complete section of the agent's reasoning summary. */
export type AgentReasoning = typeof AgentReasoning.Type

/** The event `agent_reasoning_delta`; its `doc` describes it. */
export const AgentReasoningDelta = event("agent_reasoning_delta", delta, {
  ...original,
  doc: "A piece of a reasoning summary that is still being received.",
  durable: false,
})
/** A piece of a reasoning summary that is still being received. */
export type AgentReasoningDelta = typeof AgentReasoningDelta.Type

/** The event `agent_reasoning_raw_content`; its `doc` describes it. */
export const AgentReasoningRawContent = event("agent_reasoning_raw_content", text, {
  ...original,
  doc: "The agent's reasoning itself, where the provider gives it and the settings show it.",
  inRollout: true,
  completes: ["agent_reasoning_raw_content_delta"],
})
/** The agent's reasoning itself, where the provider gives it and the settings show it. */
export type AgentReasoningRawContent = typeof AgentReasoningRawContent.Type

/** The event `agent_reasoning_raw_content_delta`; its `doc` describes it. */
export const AgentReasoningRawContentDelta = event("agent_reasoning_raw_content_delta", delta, {
  ...original,
  doc: "A piece of reasoning that is still being received.",
  durable: false,
})
/** A piece of reasoning that is still being received. */
export type AgentReasoningRawContentDelta = typeof AgentReasoningRawContentDelta.Type

/** The event `agent_reasoning_section_break`; its `doc` describes it. */
export const AgentReasoningSectionBreak = event(
  "agent_reasoning_section_break",
  {},
  {
    ...original,
    doc: "The next delta of the reasoning summary begins a new section.",
    synced: false,
    completes: ["agent_reasoning_delta"],
  },
)
/** The next delta of the reasoning summary begins a new section. */
export type AgentReasoningSectionBreak = typeof AgentReasoningSectionBreak.Type

/** The event `raw_response_item`; its `doc` describes it. */
export const RawResponseItem = event(
  "raw_response_item",
  { item: ResponseItem },
  {
    doc: "An item of the history that is sent to the model.",
    since: "0.58",
    audience: "raw",
  },
)
/** An item of the history that is sent to the model. */
export type RawResponseItem = typeof RawResponseItem.Type
