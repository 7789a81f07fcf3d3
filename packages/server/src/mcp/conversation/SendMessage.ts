/**
 * `conversationSendMessage`: submits a message and returns. Until its turn has ended, a client that can answer questions
 * counts as there: what is asked waits for its stream, or for the deadline.
 */
import type { Conversation } from "@colloquy/core/Conversation"
import type { ConversationsView } from "../../ConversationsView.ts"
import type { SettingsResolver } from "@colloquy/core/ConversationSettings"
import type { WhileRunning } from "@colloquy/core/decider/Decision"
import type { Listener, ListenerEnd } from "@colloquy/core/listeners/Listener"
import { isTerminal } from "@colloquy/protocol/EventMsg"
import type { ConversationSendMessage } from "@colloquy/protocol/mcp/ConversationTools"
import type { Op } from "@colloquy/protocol/Op"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { CallElicitations } from "../elicitation/Elicitations.ts"
import { type Call, find } from "./Call.ts"
import { isOverriding, userTurn } from "./Overrides.ts"
import { branch } from "./MessageBranch.ts"
import { Refused, type Value } from "./Results.ts"

type Args = (typeof ConversationSendMessage)["arguments"]["Type"]

/** Until the turn has ended: takes back the questions that are over, also while no stream is there. */
const attend = Effect.fnUntraced(function* (
  listener: Listener,
  turnId: string,
  questions: CallElicitations,
): Effect.fn.Return<void, ListenerEnd> {
  while (true) {
    for (const delivery of yield* listener.take) {
      if (delivery._tag !== "Event") continue
      const { id, msg } = delivery.event
      if (msg.type === "approval_resolved") yield* questions.withdraw(msg.call_id)
      if (id === turnId && isTerminal(msg)) return
    }
  }
})

/** The id of the turn. */
const submit = Effect.fnUntraced(function* (
  conversation: Conversation,
  op: Op,
  whileRunning: WhileRunning,
  call: Call,
) {
  const { connection } = call
  const scope = yield* Scope.make()
  return yield* Effect.gen(function* () {
    const questions = yield* Scope.provide(connection.questions(conversation, call), scope)
    const listener =
      questions === undefined
        ? undefined
        : yield* Scope.provide(conversation.attach({ answers: true }), scope)
    const { id } = yield* conversation.submit(op, { whileRunning })
    connection.onCancel(call.requestId, conversation.cancel(id))
    const turn = `${conversation.id} ${id}`
    // Messages that join a turn attend it once: it has room for more of them than for listeners.
    if (questions === undefined || listener === undefined || connection.attended.has(turn)) {
      yield* Scope.close(scope, Exit.void)
    } else {
      connection.attended.add(turn)
      yield* attend(listener, id, questions).pipe(
        Effect.catch(() => Effect.logDebug("the conversation ended before the turn did")),
        Effect.ensuring(
          Effect.suspend(() => {
            connection.attended.delete(turn)
            return Scope.close(scope, Exit.void)
          }),
        ),
        Effect.forkIn(connection.scope, { startImmediately: true }),
      )
    }
    return id
  }).pipe(Effect.onError(() => Scope.close(scope, Exit.void)))
})

const targetOf = (args: Args): Effect.Effect<Conversation, Refused, ConversationsView> =>
  Effect.gen(function* () {
    const conversation = yield* find(args.conversation_id).pipe(
      // The words of the original's tool for it (§2.2).
      Effect.mapError((error) =>
        error.message.startsWith("Session not found")
          ? new Refused({ message: "Session does not exist" })
          : error,
      ),
    )
    const { parent_message_id: parent } = args
    return parent === undefined ? conversation : yield* branch(conversation, parent)
  })

export const sendMessage = Effect.fnUntraced(function* (
  args: Args,
  call: Call,
): Effect.fn.Return<Value, Refused, ConversationsView | SettingsResolver> {
  const { content: items } = args
  if (items.length === 0) return yield* new Refused({ message: "No content items provided" })
  const overriding = isOverriding(args)
  const whileRunning = args.while_running ?? (overriding ? "wait" : "queue")
  if (overriding && (whileRunning === "queue" || whileRunning === "steer")) {
    return yield* new Refused({
      message:
        "while_running: a message with overrides needs a turn of its own, expected `wait`, `interrupt` or `reject`",
    })
  }
  const conversation = yield* targetOf(args)
  const op: Op = overriding
    ? yield* Effect.flatMap(
        Effect.mapError(conversation.state, ({ message }) => new Refused({ message })),
        (state) => userTurn(items, args, state),
      )
    : { type: "user_input", items }
  const id = yield* submit(conversation, op, whileRunning, call).pipe(
    // Once submitted it is told, or stopped: a client that cancels in between knows of no turn.
    Effect.uninterruptible,
    Effect.onInterrupt(() => call.connection.cancel(call.requestId)),
    Effect.mapError(({ message }) => new Refused({ message })),
  )
  if (call.latest !== undefined) call.latest.id = conversation.id
  return { status: "ok", conversation_id: conversation.id, message_id: id }
})
