/**
 * The tool `codex-reply`: the next turn of a conversation, named by the key of any version of the original, or else of
 * the conversation that the connection used last.
 */
import { ConversationsView } from "../../ConversationsView.ts"
import { type ConversationId, parseConversationId } from "@colloquy/protocol/Ids"
import type { CallToolResult } from "@colloquy/protocol/mcp/CodexMcp"
import type { CodexReplyArguments } from "@colloquy/protocol/mcp/CodexTools"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { InputRequired } from "../RequestContext.ts"
import { badArguments, badId, failureIn, missingThreadId, unknownId } from "./ToolResults.ts"
import { inThread, runTurn, type ToolCaller } from "./TurnCall.ts"

/** Argument and the name the original's texts give it; the newest first. */
const keys = [
  ["threadId", "thread_id"],
  ["conversationId", "conversation_id"],
  ["sessionId", "session_id"],
] as const

interface Named {
  readonly id: ConversationId
  /** How errors call the argument. */
  readonly name: string
}

/** The conversation that the arguments name. */
const namedBy = (
  args: CodexReplyArguments,
  { latest, stateless }: ToolCaller,
): Result.Result<Named, CallToolResult> => {
  const given = keys.flatMap(([key, name]) => {
    const value = args[key]
    return value === undefined ? [] : [{ key, name, value }]
  })
  const [first, ...others] = given
  if (first === undefined) {
    return latest?.id === undefined
      ? Result.fail(missingThreadId(stateless === true))
      : Result.succeed({ id: latest.id, name: keys[0][1] })
  }
  const other = others.find(({ value }) => value !== first.value)
  if (other !== undefined) {
    return Result.fail(
      badArguments(`\`${first.key}\` and \`${other.key}\` name different conversations`),
    )
  }
  const parsed = parseConversationId(first.value)
  return "problem" in parsed
    ? Result.fail(badId(first.name, parsed.problem))
    : Result.succeed({ id: parsed.id, name: first.name })
}

export const codexReply = Effect.fnUntraced(function* (
  args: CodexReplyArguments,
  call: ToolCaller,
): Effect.fn.Return<CallToolResult, InputRequired, ConversationsView> {
  const manager = yield* ConversationsView
  const named = namedBy(args, call)
  if (named._tag === "Failure") return named.failure
  const { id, name } = named.success
  const conversation = yield* Effect.result(manager.get(id))
  if (conversation._tag === "Failure") {
    const { failure } = conversation
    return failure._tag === "NoSuchConversation"
      ? unknownId(name, id)
      : inThread(call, id, failureIn(id, failure.message))
  }
  return yield* runTurn({
    ...call,
    conversation: conversation.success,
    prompt: args.prompt,
    whileRunning: args["while-running"] ?? "wait",
  })
})
