/** Submits an op and follows its turn to the end, also where the op was submitted before. */
import { type EventMsg, isTerminal } from "@colloquy/protocol/EventMsg"
import type { SubmissionId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { ConversationClosed, type ConversationUnavailable } from "../ConversationErrors.ts"
import { mayHave, type Receipt, type Receipts } from "../decider/Receipts.ts"
import type { Listener } from "./Listener.ts"

/** How a turn ended. */
export interface TurnEnd {
  /** Number of the terminal event. */
  readonly seq: number
  /** The terminal event. */
  readonly msg: Extract<EventMsg, { readonly type: "task_complete" | "turn_aborted" }>
  /** Message of the last `error` event of the turn, where it had one. */
  readonly error?: string
}

/** The receipt of an op, and the end of the turn that it names: none where the op started and joined no turn. */
export interface TurnRun {
  readonly receipt: Receipt
  readonly end?: TurnEnd
}

/** Takes until the turn has ended. Fails with `ConversationClosed` where the conversation ends before it. */
const endOfTurn = Effect.fnUntraced(function* (
  listener: Listener,
  turn: SubmissionId,
): Effect.fn.Return<TurnEnd, ConversationClosed | ConversationUnavailable> {
  let error: string | undefined
  while (true) {
    const deliveries = yield* Effect.catchTag(listener.take, "Done", () =>
      Effect.fail(new ConversationClosed()),
    )
    for (const delivery of deliveries) {
      if (delivery._tag !== "Event" || delivery.event.id !== turn) continue
      const { msg, seq } = delivery.event
      if (msg.type === "error") error = msg.message
      if (isTerminal(msg)) return { seq, msg, ...(error === undefined ? {} : { error }) }
    }
  }
})

/** What `runTurn` needs of a conversation. */
interface Running<E1, E2> {
  readonly state: Effect.Effect<{ readonly seq: number; readonly receipts: Receipts }, E1>
  readonly attach: (options: { readonly from: number }) => Effect.Effect<Listener, E2, Scope.Scope>
}

/**
 * `Conversation.runTurn`, by the other members of the conversation. Only an op with an id can have been submitted before: any
 * other turn ends behind the place where the listener is attached, however soon it ends.
 *
 * @param submit submits the op
 * @param id the id that the caller chose for it, if any
 */
export const runTurn = Effect.fnUntraced(function* <E, E1, E2>(
  conversation: Running<E1, E2>,
  submit: Effect.Effect<Receipt, E>,
  id: SubmissionId | undefined,
) {
  const { receipts, seq } = yield* conversation.state
  const isRepeated = id !== undefined && mayHave(receipts, id)
  const listener = yield* conversation.attach({ from: isRepeated ? 0 : seq })
  const receipt = yield* submit
  const run: TurnRun =
    receipt.disposition === "none"
      ? { receipt }
      : { receipt, end: yield* endOfTurn(listener, receipt.id) }
  return run
}, Effect.scoped)
