/**
 * The tool `conversationSendMessage`: submits a message and resolves without waiting for its turn. Until the turn ends, a
 * listener for the client's answers stays attached, so that the turn's questions wait for the client's stream or for their
 * deadline instead of being decided by the setting `unattended`.
 */
import type { Conversation } from "@colloquy/core/Conversation"
import type { AttachError, SubmitError } from "@colloquy/core/ConversationErrors"
import type { ConversationsView } from "../../ConversationsView.ts"
import type { SettingsResolver } from "@colloquy/core/ConversationSettings"
import type { WhileRunning } from "@colloquy/core/decider/Decision"
import type { Listener, ListenerEnd } from "@colloquy/core/listeners/Listener"
import { untilTurnEnds } from "@colloquy/core/listeners/Listening"
import type { ConversationSendMessage } from "@colloquy/protocol/mcp/ConversationTools"
import type { Op } from "@colloquy/protocol/Op"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { CallElicitations } from "../elicitation/Elicitations.ts"
import type { RequestContext } from "../RequestContext.ts"
import type { ConnectionState } from "../ConnectionState.ts"
import { stateOf } from "./ConversationStatus.ts"
import { findConversation } from "./FindConversation.ts"
import { branchAt } from "./MessageBranch.ts"
import { isOverriding, userTurn } from "./Overrides.ts"
import { type Refusal, Refused, refusedBy, type Value } from "./Results.ts"

type Arguments = (typeof ConversationSendMessage)["arguments"]["Type"]

/** A listener for the answers of the client, and the questions of the conversation to it. */
interface Attendance {
  readonly listener: Listener
  readonly questions: CallElicitations
}

/** Attaches to the conversation for a client that can answer questions. */
const attend = Effect.fnUntraced(function* (
  conversation: Conversation,
  context: RequestContext,
  connection: ConnectionState,
): Effect.fn.Return<Attendance | undefined, AttachError, Scope.Scope> {
  const questions = yield* connection.questions(conversation, context)
  if (questions === undefined) return undefined
  return { listener: yield* conversation.attach({ answers: true }), questions }
})

/** Withdraws resolved questions until the turn has ended, also while the client has no stream. */
const untilEnd = ({ listener, questions }: Attendance, turnId: string) =>
  untilTurnEnds(listener, turnId, ({ msg }) =>
    msg.type === "approval_resolved" ? questions.withdraw(msg.call_id) : undefined,
  ).pipe(
    Effect.catch((_: ListenerEnd) => Effect.logDebug("the conversation ended before the turn did")),
  )

/**
 * Submits the message and gives the id of its turn. From then on cancelling the call interrupts the turn. `scope` is closed
 * when the turn has ended.
 */
const submitAttended = Effect.fnUntraced(function* (
  conversation: Conversation,
  submission: { readonly op: Op; readonly whileRunning: WhileRunning },
  context: RequestContext,
  connection: ConnectionState,
  scope: Scope.Closeable,
): Effect.fn.Return<string, AttachError | SubmitError> {
  const { attended } = connection
  const { op, whileRunning } = submission
  const attendance = yield* Scope.provide(attend(conversation, context, connection), scope)
  const { id } = yield* conversation.submit(op, { whileRunning })
  connection.answered.onCancel(context.requestId, conversation.cancel(id))
  const turn = `${conversation.id} ${id}`
  // One listener serves all messages of a turn: a turn takes more messages than a conversation takes listeners.
  if (attendance === undefined || attended.has(turn)) {
    yield* Scope.close(scope, Exit.void)
    return id
  }
  attended.add(turn)
  const leave = Effect.suspend(() => {
    attended.delete(turn)
    return Scope.close(scope, Exit.void)
  })
  yield* untilEnd(attendance, id).pipe(
    Effect.ensuring(leave),
    Effect.forkIn(connection.scope, { startImmediately: true }),
  )
  return id
})

/** The conversation of the message: the one that the arguments name, or a fork of it. */
const targetOf = Effect.fnUntraced(function* ({
  conversation_id,
  parent_message_id: parent,
}: Arguments): Effect.fn.Return<Conversation, Refusal, ConversationsView> {
  const conversation = yield* findConversation(conversation_id).pipe(
    // The text of the original's tool.
    Effect.catchTag("UnknownConversation", () =>
      Effect.fail(new Refused({ message: "Session does not exist" })),
    ),
  )
  return parent === undefined ? conversation : yield* branchAt(conversation, parent)
})

const checkedMode = ({ while_running }: Arguments, overriding: boolean): WhileRunning | Refused => {
  const mode = while_running ?? (overriding ? "wait" : "queue")
  return overriding && (mode === "queue" || mode === "steer")
    ? new Refused({
        message:
          "while_running: a message with overrides needs a turn of its own, expected `wait`, `interrupt` or `reject`",
      })
    : mode
}

/** Resolves once the message was accepted, with the id of its turn. Makes the conversation the latest of the connection. */
export const conversationSendMessage = Effect.fn("ConversationSendMessage.conversationSendMessage")(
  function* (
    args: Arguments,
    context: RequestContext,
    connection: ConnectionState,
  ): Effect.fn.Return<Value, Refusal, ConversationsView | SettingsResolver> {
    const { content: items } = args
    if (items.length === 0) return yield* new Refused({ message: "No content items provided" })
    const overriding = isOverriding(args)
    const whileRunning = checkedMode(args, overriding)
    if (typeof whileRunning !== "string") return yield* whileRunning
    const conversation = yield* targetOf(args)
    const op: Op = overriding
      ? yield* userTurn(items, args, yield* stateOf(conversation))
      : { type: "user_input", items }
    const scope = yield* Scope.make()
    const id = yield* submitAttended(
      conversation,
      { op, whileRunning },
      context,
      connection,
      scope,
    ).pipe(
      Effect.onError(() => Scope.close(scope, Exit.void)),
      // A submitted message is either reported or interrupted: a client that cancels in between knows of no turn.
      Effect.uninterruptible,
      Effect.onInterrupt(() => connection.answered.cancel(context.requestId)),
      Effect.mapError(refusedBy),
    )
    connection.setLatest(context, conversation.id)
    return { status: "ok", conversation_id: conversation.id, message_id: id }
  },
)
