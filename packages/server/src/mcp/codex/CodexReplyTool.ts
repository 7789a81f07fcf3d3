/**
 * The tool `codex-reply`: runs the next turn of a conversation. The call names the conversation by the argument of any
 * version of the original; without one it is the conversation that the connection used last.
 */
import { ConversationsView } from "../../ConversationsView.ts"
import { type ConversationId, parseConversationId } from "@colloquy/protocol/Ids"
import type { CallToolResult } from "@colloquy/protocol/mcp/CodexMcp"
import type { CodexReplyArguments } from "@colloquy/protocol/mcp/CodexTools"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { ConnectionState } from "../ConnectionState.ts"
import type { InputRequired, RequestContext } from "../RequestContext.ts"
import type { CallProgress } from "./CallProgress.ts"
import {
  badArguments,
  badId,
  inThread,
  missingThreadId,
  notAvailable,
  unknownId,
} from "./ToolResults.ts"
import { runTurn } from "./TurnCall.ts"

/** Each argument, and its name in the error texts of the original; the newest first. */
const keys = [
  ["threadId", "thread_id"],
  ["conversationId", "conversation_id"],
  ["sessionId", "session_id"],
] as const

interface Target {
  readonly id: ConversationId
  /** Name of the argument in error texts. */
  readonly name: string
}

/** The conversation to continue, or the result of a call that names none or several. */
const targetOf = (
  args: CodexReplyArguments,
  context: RequestContext,
  connection: ConnectionState,
): Result.Result<Target, CallToolResult> => {
  const given = keys.flatMap(([key, name]) => {
    const value = args[key]
    return value === undefined ? [] : [{ key, name, value }]
  })
  const [first, ...others] = given
  if (first === undefined) {
    const latest = connection.latest(context)
    return latest === undefined
      ? Result.fail(missingThreadId(context.era === "stateless"))
      : Result.succeed({ id: latest, name: keys[0][1] })
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

/** Resolves with the result of the turn. A conversation that cannot be loaded is a result with `isError`. */
export const codexReply = (
  args: CodexReplyArguments,
  context: RequestContext,
  connection: ConnectionState,
  progress: CallProgress | undefined,
): Effect.Effect<CallToolResult, InputRequired, ConversationsView> => {
  const target = targetOf(args, context, connection)
  if (target._tag === "Failure") return Effect.succeed(target.failure)
  const { id, name } = target.success
  return Effect.matchEffect(
    ConversationsView.use((conversations) => conversations.get(id)),
    {
      onFailure: (error) =>
        Effect.succeed(
          error._tag === "NoSuchConversation"
            ? unknownId(name, id)
            : inThread(connection.threadIdPlace, id, notAvailable(id, error)),
        ),
      onSuccess: (conversation) =>
        runTurn(connection, context, {
          conversation,
          prompt: args.prompt,
          progress,
          whileRunning: args["while-running"] ?? "wait",
        }),
    },
  )
}
