/**
 * The results of the conversation tools: the same value as JSON text and as structured content. Every text with which one
 * of these tools fails is made here or carried by a `Refused`; the wording of the original is kept where it has one.
 */
import type { CallToolResult } from "@colloquy/protocol/mcp/CodexMcp"
import * as Data from "effect/Data"
import { inUseMeta } from "../../InUse.ts"

/** The structured content of a result, member by member as on the wire. */
export type Value = Readonly<Record<string, unknown>>

/** The call cannot be done. `message` says why and names the argument; it becomes a result with `isError`. */
export class Refused extends Data.TaggedError("Refused")<{
  readonly message: string
  /** Present where another process has the conversation: what names it. */
  readonly _meta?: CallToolResult["_meta"]
}> {}

/** No conversation has the id that the call names. Its message is that of the tool `codex-reply`. */
class UnknownConversation extends Data.TaggedError("UnknownConversation")<{
  readonly id: string
}> {
  override get message(): string {
    return `Session not found for conversation_id: ${this.id}`
  }
}

/** Why a conversation tool does not do what it was called for. */
export type Refusal = Refused | UnknownConversation

const result = (value: Value, isError: boolean): CallToolResult => ({
  content: [{ type: "text", text: JSON.stringify(value) }],
  structuredContent: value,
  isError,
})

/** The result of a call that succeeded. */
export const success = (value: Value): CallToolResult => result(value, false)

/** The result of a call that failed. */
export const failure = (message: string): CallToolResult => result({ message }, true)

/** The result of a `conversationSendMessage` that failed: this tool has a status as well. */
export const notSent = (message: string): CallToolResult =>
  result({ status: "error", message }, true)

/** Message for arguments that do not fit the tool's schema. */
export const badArguments = (tool: string, faults: string): string =>
  `Failed to parse arguments for ${tool}: ${faults}`

/** The argument `conversation_id` is no id. */
export const badId = (problem: string): Refused =>
  new Refused({ message: `Failed to parse conversation_id: ${problem}` })

/** The conversation does not exist, or it cannot be loaded now. */
export const cannotGet = (
  id: string,
  error: { readonly _tag: string; readonly message: string; readonly because?: unknown },
): Refusal =>
  error._tag === "NoSuchConversation"
    ? new UnknownConversation({ id })
    : new Refused({ message: error.message, ...inUseMeta(error) })

/** Overrides that make no valid settings. */
export const badSettings = (message: string): Refused =>
  new Refused({ message: `Failed to load config: ${message}` })

/** The conversation could not be created. */
export const notStarted = (message: string): Refused =>
  new Refused({ message: `Failed to initialize session: ${message}` })

/** Any other failure, with its own message. */
export const refusedBy = (error: {
  readonly _tag: string
  readonly message: string
  readonly because?: unknown
}): Refused => new Refused({ message: error.message, ...inUseMeta(error) })
