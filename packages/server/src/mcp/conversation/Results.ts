/** The results of the conversation tools (§2.2): the same value as text and as structured content; every text of a failure. */
import type { GetError } from "@colloquy/core/ConversationManager"
import type { CallToolResult } from "@colloquy/protocol/mcp/CodexMcp"
import * as Data from "effect/Data"

/** What a tool tells, member by member as on the wire. */
export type Value = Readonly<Record<string, unknown>>

/** The call cannot be done; `message` says why and names the argument. */
export class Refused extends Data.TaggedError("Refused")<{ readonly message: string }> {}

const result = (value: Value, isError: boolean): CallToolResult => ({
  content: [{ type: "text", text: JSON.stringify(value) }],
  structuredContent: value,
  isError,
})

export const told = (value: Value): CallToolResult => result(value, false)

export const failed = (message: string): CallToolResult => result({ message }, true)

/** `conversationSendMessage` says it in its status, too. */
export const notSent = (message: string): CallToolResult =>
  result({ status: "error", message }, true)

export const badArguments = (tool: string, faults: string): string =>
  `Failed to parse arguments for ${tool}: ${faults}`

export const badId = (problem: string): Refused =>
  new Refused({ message: `Failed to parse conversation_id: ${problem}` })

/** In the words that `codex-reply` has for it (§1.6). */
export const notFound = (id: string): Refused =>
  new Refused({ message: `Session not found for conversation_id: ${id}` })

export const cannotGet = (id: string, error: GetError): Refused =>
  error._tag === "NoSuchConversation" ? notFound(id) : new Refused({ message: error.message })

export const badSettings = (message: string): Refused =>
  new Refused({ message: `Failed to load config: ${message}` })

export const notStarted = (message: string): Refused =>
  new Refused({ message: `Failed to initialize session: ${message}` })
