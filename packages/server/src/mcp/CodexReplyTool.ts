/** The tool `codex-reply`: the next turn of a conversation, named by any generation's key (§1.6, design §6). */
import { ConversationManager } from "@colloquy/core/ConversationManager"
import { parseConversationId } from "@colloquy/protocol/Ids"
import type { CallToolResult } from "@colloquy/protocol/mcp/CodexMcp"
import type { CodexReplyArguments } from "@colloquy/protocol/mcp/CodexTools"
import * as Effect from "effect/Effect"
import type { InputRequired } from "./RequestContext.ts"
import { badArguments, badId, failureIn, unknownId } from "./ToolResults.ts"
import { runTurn, type ToolCaller } from "./TurnCall.ts"

/** Argument and the name the original's texts give it; the newest first. */
const keys = [
  ["threadId", "thread_id"],
  ["conversationId", "conversation_id"],
  ["sessionId", "session_id"],
] as const

export const codexReply = Effect.fnUntraced(function* (
  args: CodexReplyArguments,
  call: ToolCaller,
): Effect.fn.Return<CallToolResult, InputRequired, ConversationManager> {
  const manager = yield* ConversationManager
  const given = keys.flatMap(([key, name]) => {
    const value = args[key]
    return value === undefined ? [] : [{ key, name, value }]
  })
  const [first, ...others] = given
  if (first === undefined) {
    return badArguments(
      "missing field `threadId` (expected a string; `conversationId` and `sessionId` are accepted too)",
    )
  }
  const other = others.find(({ value }) => value !== first.value)
  if (other !== undefined) {
    return badArguments(`\`${first.key}\` and \`${other.key}\` name different conversations`)
  }
  const parsed = parseConversationId(first.value)
  if ("problem" in parsed) return badId(first.name, parsed.problem)
  const conversation = yield* Effect.result(manager.get(parsed.id))
  if (conversation._tag === "Failure") {
    const { failure } = conversation
    return failure._tag === "NoSuchConversation"
      ? unknownId(first.name, parsed.id)
      : failureIn(parsed.id, failure.message)
  }
  return yield* runTurn({
    ...call,
    conversation: conversation.success,
    prompt: args.prompt,
    whileRunning: args["while-running"] ?? "wait",
  })
})
