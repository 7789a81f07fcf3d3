/** The results of the `codex` tools, and every text they fail with (§1.5, §1.6): the error mapping of this dialect. */
import type { EventOf } from "@colloquy/protocol/EventMsg"
import type { CallToolResult } from "@colloquy/protocol/mcp/CodexMcp"
import type { ToolOutput } from "@colloquy/protocol/mcp/CodexTools"

/** Where a result has the id of its conversation beside `structuredContent`: `content` repeats it as text for a model. */
export type ThreadIdPlace = "content" | "structured"

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

/**
 * Clients that pass `content` alone to their model could not continue the conversation otherwise. The first block stays
 * exactly the answer, which all clients read, so the two blocks together repeat the structured content as text, as the
 * specification asks for; as one JSON text the answer would have to be sent twice. Meant for the model, not for the user.
 */
export const withThreadText = (threadId: string, result: CallToolResult): CallToolResult => ({
  ...result,
  content: [
    ...result.content,
    {
      type: "text",
      text: `threadId: ${threadId} (pass it to codex-reply to continue this conversation)`,
      annotations: { audience: ["assistant"] },
    },
  ],
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

/** Of a `codex-reply` without an id. `stateless`: the request belongs to no connection that could have a last one. */
export const missingThreadId = (stateless: boolean): CallToolResult =>
  badArguments(
    `missing field \`threadId\` (expected a string; \`conversationId\` and \`sessionId\` are accepted too)${
      stateless
        ? ": in this revision of the protocol each request has to name its conversation"
        : ": no conversation was started or continued on this connection"
    }`,
  )

export const badSettings = (message: string): CallToolResult =>
  failure(`Failed to load Codex configuration from overrides: ${message}`)

export const notStarted = (message: string): CallToolResult =>
  failure(`Failed to start Codex session: ${message}`)

/** `name` is the wire's name of the id in snake case: `session_id`, `conversation_id` or `thread_id`. */
export const badId = (name: string, problem: string): CallToolResult =>
  failure(`Failed to parse ${name}: ${problem}`)

export const unknownId = (name: string, id: string): CallToolResult =>
  failureIn(id, `Session not found for ${name}: ${id}`)
