/** The results of the `codex` tools, and every text they fail with (§1.5, §1.6): the error mapping of this dialect. */
import type { EventOf } from "@colloquy/protocol/EventMsg"
import type { CallToolResult } from "@colloquy/protocol/mcp/CodexMcp"
import type { ToolOutput } from "@colloquy/protocol/mcp/CodexTools"

const text = (content: string) => [{ type: "text" as const, text: content }]

const output = (threadId: string, content: string): ToolOutput => ({
  threadId,
  conversationId: threadId,
  content,
})

export const success = (threadId: string, content: string): CallToolResult => ({
  content: text(content),
  structuredContent: output(threadId, content),
})

/** A failure of a call that belongs to no conversation. */
const failure = (message: string): CallToolResult => ({
  content: text(message),
  isError: true,
})

/** A failure in a conversation; it goes on with `threadId`. */
export const failureIn = (threadId: string, message: string): CallToolResult => ({
  ...failure(message),
  structuredContent: output(threadId, message),
})

/** A question that was put to nobody, and what the conversation's rule made of it. */
export type Unattended = Pick<EventOf<"approval_resolved">, "call_id" | "decision">

/** The result says which questions nobody could be asked: a caller would take a denial for a person's. */
export const withUnattended = (
  result: CallToolResult,
  decided: ReadonlyArray<Unattended>,
): CallToolResult =>
  decided.length === 0 ? result : { ...result, _meta: { "colloquy/unattended": decided } }

export const missingArguments = (tool: string, fields: string): CallToolResult =>
  failure(`Missing arguments for ${tool} tool-call; ${fields}`)

export const badArguments = (faults: string): CallToolResult =>
  failure(`Failed to parse configuration for Codex tool: ${faults}`)

export const badSettings = (message: string): CallToolResult =>
  failure(`Failed to load Codex configuration from overrides: ${message}`)

export const notStarted = (message: string): CallToolResult =>
  failure(`Failed to start Codex session: ${message}`)

/** `name` is the wire's name of the id in snake case: `session_id`, `conversation_id` or `thread_id`. */
export const badId = (name: string, problem: string): CallToolResult =>
  failure(`Failed to parse ${name}: ${problem}`)

export const unknownId = (name: string, id: string): CallToolResult =>
  failureIn(id, `Session not found for ${name}: ${id}`)
