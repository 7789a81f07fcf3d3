/**
 * Forwards one turn to the client of a tool call: its events as `codex/event`, its items as progress, the conversation's
 * questions each behind its event (L7), and at its terminal event the result of the call (L2). Submits nothing and
 * interrupts nothing: that is `TurnCall`.
 *
 *     collecting ── deliveries taken ──► sending ── no terminal event yet ──► collecting
 *                                           ├────── terminal event ──► result
 *                                           └────── a question that only a result can carry ──► `InputRequired`
 */
import type { Conversation } from "@colloquy/core/Conversation"
import { isAutoCompactId } from "@colloquy/core/decider/State"
import type { Delivery } from "@colloquy/core/listeners/Delivery"
import type { Listener, ListenerEnd } from "@colloquy/core/listeners/Listener"
import { takeSoon } from "@colloquy/core/listeners/Listening"
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import { type Event, type EventMsg, type EventOf, isTerminal } from "@colloquy/protocol/EventMsg"
import type { CallToolResult } from "@colloquy/protocol/mcp/CodexMcp"
import * as Effect from "effect/Effect"
import { wireEvent } from "../../events/McpEvents.ts"
import type { CallElicitations } from "../elicitation/Elicitations.ts"
import type { InputRequired, RequestContext } from "../RequestContext.ts"
import type { CallProgress } from "./CallProgress.ts"
import { progressMessage } from "./ProgressMessages.ts"
import { failureIn, success, type Unattended, withUnattended } from "./ToolResults.ts"
import { type EventSink, sink, type VendorEvents } from "./VendorEvents.ts"

/** The turn that is forwarded, and what it is forwarded to. */
export interface ForwardedTurn {
  readonly conversation: Pick<Conversation, "id">
  readonly turnId: string
  /** Number of the first event to forward; default: the next one that comes. */
  readonly from?: number
  /** Attached to the conversation at `from`. */
  readonly listener: Listener
  readonly events: VendorEvents
  /** Undefined for a call without progress. */
  readonly progress: CallProgress | undefined
  /** Undefined for a client that cannot answer questions. */
  readonly questions: CallElicitations | undefined
}

type TurnError = ConnectionClosed | ListenerEnd | InputRequired

/**
 * An error event is the turn's result only where the turn ended without a message: that of a tool server costs its tools,
 * not the answer.
 */
const resultOf = (
  threadId: string,
  terminal: EventMsg,
  error: string | undefined,
): CallToolResult => {
  const answered = terminal.type === "task_complete" && terminal.last_agent_message !== null
  if (error !== undefined && !answered) return failureIn(threadId, error)
  return terminal.type === "task_complete"
    ? success(threadId, terminal.last_agent_message ?? "")
    : failureIn(threadId, "Turn interrupted")
}

/** Forwards one turn. `run` may be interrupted and run again. */
export class TurnForwarder {
  private readonly turn: ForwardedTurn
  private readonly context: RequestContext
  private readonly threadId: string
  private readonly events: EventSink
  /** Number of the first event that was not forwarded. */
  private next: number
  /** True from the first event of the turn on. */
  private started = false
  private terminal: EventMsg | undefined
  /** Message of the last error event. */
  private error: string | undefined
  /** Collected and not sent yet: ids of resolved questions, messages of items, events that ask. */
  private readonly resolved: Array<string> = []
  private readonly items: Array<string> = []
  private readonly asked: Array<Event> = []
  /** Questions of the turn that were resolved because no client could be asked. */
  private readonly unattended: Array<Unattended> = []

  constructor(context: RequestContext, turn: ForwardedTurn) {
    this.context = context
    this.turn = turn
    this.threadId = turn.conversation.id
    this.events = sink(turn.events, context.peer)
    this.next = turn.from ?? 0
  }

  /**
   * Resolves with the result of the turn. Interrupted and run again, it continues with the batch that the client had not
   * accepted. Fails with `InputRequired` where a question ends the call.
   */
  get run(): Effect.Effect<CallToolResult, TurnError> {
    const { questions } = this.turn
    return Effect.gen({ self: this }, function* () {
      while (true) {
        // Withdraw resolved questions and flush events first, so that the client never answers a stale question or sees
        // one before its event.
        if (this.resolved.length > 0) yield* this.withdrawResolved
        yield* this.events.flush
        if (this.items.length > 0) yield* this.reportItems
        if (this.asked.length > 0) yield* this.putQuestions
        if (this.terminal !== undefined) {
          const result = resultOf(this.threadId, this.terminal, this.error)
          return withUnattended(result, this.unattended)
        }
        const deliveries: ReadonlyArray<Delivery> = yield* this.take
        if (deliveries.length === 0 && questions?.inResult !== undefined) {
          return yield* questions.inResult.end(this.next)
        }
        for (const delivery of deliveries) this.add(delivery)
      }
    })
  }

  /** Waits for deliveries; for none where a question waits that only a result can carry, and no other follows at once. */
  private get take(): Effect.Effect<ReadonlyArray<Delivery>, ListenerEnd> {
    const { listener, questions } = this.turn
    return questions?.inResult?.isDue() === true ? takeSoon(listener) : listener.take
  }

  private get withdrawResolved(): Effect.Effect<void> {
    return this.drain(this.resolved, (id) => this.turn.questions?.withdraw(id) ?? Effect.void)
  }

  private get putQuestions(): Effect.Effect<void> {
    return this.drain(this.asked, (event) => this.turn.questions?.put(event) ?? Effect.void)
  }

  private get reportItems(): Effect.Effect<void, ConnectionClosed> {
    return Effect.map(this.turn.progress?.notify(this.items) ?? Effect.void, () => {
      this.items.length = 0
    })
  }

  /** Uses each and empties the list. Interrupted, it starts over: withdrawing or putting a question twice does nothing. */
  private drain<A>(list: Array<A>, use: (one: A) => Effect.Effect<void>): Effect.Effect<void> {
    return Effect.map(Effect.forEach(list, use, { discard: true }), () => {
      list.length = 0
    })
  }

  private add(delivery: Delivery): void {
    if (delivery._tag === "Event") this.collect(delivery.event)
    else if (delivery._tag === "Ask") this.asked.push(delivery.event)
  }

  private collect(event: Event): void {
    const { id, msg, seq } = event
    const { turnId } = this.turn
    if (msg.type === "approval_resolved") this.collectResolved(id, msg)
    if (this.terminal !== undefined) return
    this.next = Math.max(this.next, seq + 1)
    if (id === turnId) this.started = true
    // Events without a submission belong to the conversation; a summary in the middle of the turn has an id of its own.
    else if (id !== "" && !(this.started && isAutoCompactId(id))) return
    this.collectForwarded(event)
    if (msg.type === "error") this.error = msg.message
    if (isTerminal(msg) && id === turnId) this.terminal = msg
  }

  private collectForwarded(event: Event): void {
    const { requestId } = this.context
    const params = wireEvent(event, { requestId, threadId: this.threadId })
    if (params !== undefined) this.events.add(params)
    const item = this.turn.progress === undefined ? undefined : progressMessage(event.msg)
    if (item !== undefined) this.items.push(item)
  }

  private collectResolved(turnId: string, msg: EventOf<"approval_resolved">): void {
    const { call_id, decision, reason } = msg
    this.resolved.push(call_id)
    if (reason === "unattended" && turnId === this.turn.turnId) {
      this.unattended.push({ call_id, decision })
    }
  }
}
