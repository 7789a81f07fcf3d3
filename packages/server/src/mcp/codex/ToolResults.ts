/**
 * The results of `codex` and `codex-reply`, and every text with which they fail: the error mapping of this dialect. The
 * texts are those of the original where it has one (`packages/docs/wire/codex-mcp.md`).
 */
import type { AttachError, SubmitError } from "@colloquy/core/ConversationErrors"
import type { GetError } from "@colloquy/core/ConversationManager"
import type { EventOf } from "@colloquy/protocol/EventMsg"
import type { CallToolResult } from "@colloquy/protocol/mcp/CodexMcp"
import type { ToolOutput } from "@colloquy/protocol/mcp/CodexTools"
import { inUseMeta } from "../../InUse.ts"

/**
 * Where a result has the id of its conversation: in `structuredContent` alone, or also as a text in `content`, for clients
 * that give only the texts to their model.
 */
export type ThreadIdPlace = "content" | "structured"

const text = (content: string) => [{ type: "text" as const, text: content }]

const output = (threadId: string, content: string): ToolOutput => ({
  threadId,
  conversationId: threadId,
  content,
})

/** The result of a turn that ended with this message of the model. */
export const success = (threadId: string, content: string): CallToolResult => ({
  content: text(content),
  structuredContent: output(threadId, content),
})

/** The failure of a call that belongs to no conversation. */
const failure = (message: string): CallToolResult => ({
  content: text(message),
  isError: true,
})

/** The failure of a call in a conversation, which the client can continue with `threadId`. */
export const failureIn = (threadId: string, message: string): CallToolResult => ({
  ...failure(message),
  structuredContent: output(threadId, message),
})

/** The conversation cannot be used now. `_meta` names the process that has it, if another one does. */
export const notAvailable = (
  threadId: string,
  error: GetError | AttachError | SubmitError,
): CallToolResult => ({ ...failureIn(threadId, error.message), ...inUseMeta(error) })

/**
 * Adds a second block with the thread id, meant for the model and not for the user. The first block stays exactly the
 * answer, which every client reads; both together repeat the structured content as text, as the specification asks for.
 * One block of JSON would send the answer twice.
 */
const withThreadText = (threadId: string, result: CallToolResult): CallToolResult => ({
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

/** The result of a call in a conversation that the client can continue, with the thread id at that place. */
export const inThread = (
  place: ThreadIdPlace,
  threadId: string,
  result: CallToolResult,
): CallToolResult => (place === "structured" ? result : withThreadText(threadId, result))

/** A question for which no client was attached, and the decision that the setting `unattended` made. */
export type Unattended = Pick<EventOf<"approval_resolved">, "call_id" | "decision">

/** Names the questions that no client could be asked, because the caller would take such a denial for a person's. */
export const withUnattended = (
  result: CallToolResult,
  decided: ReadonlyArray<Unattended>,
): CallToolResult =>
  decided.length === 0 ? result : { ...result, _meta: { "colloquy/unattended": decided } }

/** The call has no arguments at all. `fields` names the required ones, in the words of the original. */
export const missingArguments = (tool: string, fields: string): CallToolResult =>
  failure(`Missing arguments for ${tool} tool-call; ${fields}`)

/** The arguments do not fit the tool's schema. */
export const badArguments = (faults: string): CallToolResult =>
  failure(`Failed to parse configuration for Codex tool: ${faults}`)

/** A `codex-reply` names no conversation. `stateless`: the request belongs to no connection that could remember one. */
export const missingThreadId = (stateless: boolean): CallToolResult =>
  badArguments(
    `missing field \`threadId\` (expected a string; \`conversationId\` and \`sessionId\` are accepted too)${
      stateless
        ? ": in this revision of the protocol each request has to name its conversation"
        : ": no conversation was started or continued on this connection"
    }`,
  )

/** The arguments make no valid settings. */
export const badSettings = (message: string): CallToolResult =>
  failure(`Failed to load Codex configuration from overrides: ${message}`)

/** The conversation could not be created. */
export const notStarted = (message: string): CallToolResult =>
  failure(`Failed to start Codex session: ${message}`)

/** The id cannot be parsed. `name`: the argument in snake case, `session_id`, `conversation_id` or `thread_id`. */
export const badId = (name: string, problem: string): CallToolResult =>
  failure(`Failed to parse ${name}: ${problem}`)

/** No conversation has the id. `name` as for `badId`. */
export const unknownId = (name: string, id: string): CallToolResult =>
  failureIn(id, `Session not found for ${name}: ${id}`)
