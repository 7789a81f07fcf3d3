/**
 * A tool call that runs one turn: submits the prompt, forwards the turn's events as they come, puts the conversation's
 * questions to a client that can answer them, each behind its event (L7), and gives the result after the terminal
 * event (L2). Withdrawn, it stops the turn and still forwards its `turn_aborted`, as the original
 * does; the Peer then sends no answer.
 */
import type { Conversation } from "@colloquy/core/Conversation"
import { isAutoCompactId } from "@colloquy/core/decider/State"
import type { AttachError, SubmitError } from "@colloquy/core/ConversationErrors"
import type { WhileRunning } from "@colloquy/core/decider/Decision"
import type { Listener, ListenerEnd } from "@colloquy/core/listeners/Listener"
import type { Delivery } from "@colloquy/core/listeners/Delivery"
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import { type Event, type EventMsg, isTerminal } from "@colloquy/protocol/EventMsg"
import type { RequestId } from "@colloquy/protocol/JsonRpc"
import type { CallToolResult } from "@colloquy/protocol/mcp/CodexMcp"
import * as Effect from "effect/Effect"
import type { PeerControl } from "../../jsonrpc/Caller.ts"
import type { InputRequired, Members } from "../RequestContext.ts"
import type { CallElicitations, Elicitations } from "../elicitation/Elicitations.ts"
import type { CallProgress } from "./CallProgress.ts"
import { progressMessage } from "./ProgressMessages.ts"
import type { LatestConversation } from "../conversation/ConnectionState.ts"
import {
  failureIn,
  success,
  type ThreadIdPlace,
  type Unattended,
  withThreadText,
  withUnattended,
} from "./ToolResults.ts"
import { sink, type VendorEvents } from "./VendorEvents.ts"
import { wireEvent } from "../../events/McpEvents.ts"

/** Who calls a tool. */
export interface ToolCaller {
  readonly requestId: RequestId
  readonly peer: PeerControl
  /** Of a client that can answer questions. */
  readonly elicitations?: Elicitations
  /** Default `on`. */
  readonly events?: VendorEvents
  /** Of a call that named a token. */
  readonly progress?: CallProgress
  /** Default `content`. */
  readonly threadId?: ThreadIdPlace
  /** Of the connection; absent in revisions whose requests belong to none. */
  readonly latest?: LatestConversation
  /** Nothing may follow the answer of the call, and nothing is asked but in it. */
  readonly stateless?: boolean
  /** Of a call that comes back with answers: what `resumeTurn` needs. */
  readonly resumed?: { readonly state: unknown; readonly responses: Members }
}

/** A call and the conversation of its turn. */
interface Followed extends ToolCaller {
  readonly conversation: Conversation
  /** First event to forward; default: what comes from now on. */
  readonly from?: number
}

export interface TurnCall extends Followed {
  readonly prompt: string
  /** Chosen id of the submission; without one the conversation numbers it. */
  readonly submissionId?: string
  /** Default `wait`: a turn of its own, after those before it. */
  readonly whileRunning?: WhileRunning
}

/** How long a stopped turn may take to its terminal event: a second and the kill grace (L14), and less than `InFlight` waits. */
const abortBound = "1750 millis"

const nothing: ReadonlyArray<Delivery> = []

const gone = "the conversation ended before the turn did"

/** An error is the turn's own when nothing was said at its end: one of a tool server costs its tools, not the answer. */
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

/** What is delivered while everything runs that can run now: a turn may ask several things at once. */
export const atHand = (listener: Listener) =>
  Effect.raceFirst(listener.take, Effect.as(Effect.repeat(Effect.yieldNow, { times: 64 }), nothing))

/**
 * Forwards until the turn's terminal event. Can be interrupted and run again: it goes on where it was, with the batch
 * that was not accepted yet.
 */
const forwarder = (
  call: Followed,
  listener: Listener,
  turnId: string,
  questions: CallElicitations | undefined,
): Effect.Effect<CallToolResult, ConnectionClosed | ListenerEnd | InputRequired> => {
  const threadId = call.conversation.id
  const events = sink(call.events ?? "on", call.peer)
  const items: Array<string> = []
  let next = call.from ?? 0
  let terminal: EventMsg | undefined
  let begun = false
  let error: string | undefined
  const over: Array<string> = []
  const toPut: Array<Event> = []
  const unattended: Array<Unattended> = []
  const readQuestions = (delivery: Delivery) => {
    if (delivery._tag === "Ask") toPut.push(delivery.event)
    else if (delivery._tag === "Event" && delivery.event.msg.type === "approval_resolved") {
      const { call_id, decision, reason } = delivery.event.msg
      over.push(call_id)
      if (reason === "unattended" && delivery.event.id === turnId) {
        unattended.push({ call_id, decision })
      }
    }
  }
  const read = (deliveries: ReadonlyArray<Delivery>) => {
    for (const delivery of deliveries) {
      readQuestions(delivery)
      if (delivery._tag !== "Event" || terminal !== undefined) continue
      const { event } = delivery
      next = event.seq + 1
      if (event.id === turnId) begun = true
      // A summary in the middle of the turn has an id of its own.
      else if (event.id !== "" && !(begun && isAutoCompactId(event.id))) continue
      const params = wireEvent(event, { requestId: call.requestId, threadId })
      if (params !== undefined) events.add(params)
      const item = call.progress === undefined ? undefined : progressMessage(event.msg)
      if (item !== undefined) items.push(item)
      if (event.msg.type === "error") error = event.msg.message
      if (isTerminal(event.msg) && event.id === turnId) terminal = event.msg
    }
  }
  return Effect.gen(function* () {
    while (true) {
      // Before what follows: a client should not answer what is over, nor be asked of what it was not told of.
      for (const callId of over) yield* questions?.withdraw(callId) ?? Effect.void
      over.length = 0
      yield* events.flush
      yield* call.progress?.notify(items) ?? Effect.void
      items.length = 0
      for (const event of toPut) yield* questions?.put(event) ?? Effect.void
      toPut.length = 0
      if (terminal !== undefined) {
        return withUnattended(resultOf(threadId, terminal, error), unattended)
      }
      if (questions?.round?.isDue() !== true) {
        read(yield* listener.take)
        continue
      }
      const more = yield* atHand(listener)
      if (more.length === 0) return yield* questions.round.suspend(next)
      read(more)
    }
  })
}

type Failure = ConnectionClosed | ListenerEnd | InputRequired | AttachError | SubmitError

/** What goes wrong is told in the result; a question is none. */
const told = (
  threadId: string,
  run: Effect.Effect<CallToolResult, Failure>,
): Effect.Effect<CallToolResult, InputRequired> =>
  Effect.catch(run, (failure) => {
    switch (failure._tag) {
      case "InputRequired":
        return Effect.fail(failure)
      case "Done":
        return Effect.succeed(failureIn(threadId, gone))
      case "ConnectionClosed":
        return Effect.succeed(failureIn(threadId, failure.reason))
      default:
        return Effect.succeed(failureIn(threadId, failure.message))
    }
  })

/** A result of a conversation that the caller can continue. */
export const inThread = (
  { threadId: place }: ToolCaller,
  threadId: string,
  result: CallToolResult,
): CallToolResult => (place === "structured" ? result : withThreadText(threadId, result))

interface Begun {
  readonly id: string
  /** What was said is in the turn of another call and cannot be taken out: that call's to stop. */
  readonly joined: boolean
}

/** Attaches, begins, and forwards to the result. Interrupted, it stops the turn and still forwards its `turn_aborted`. */
const during = (
  call: Followed,
  begin: Effect.Effect<Begun, SubmitError>,
): Effect.Effect<CallToolResult, InputRequired> => {
  const { conversation } = call
  // From the submission to the guard below nothing may cut in: the turn would run on with nobody to stop it.
  const run = Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const listener = yield* restore(
        conversation.attach({
          answers: call.elicitations !== undefined,
          ...(call.from === undefined ? {} : { from: call.from }),
        }),
      )
      const questions = yield* call.elicitations?.of(call) ?? Effect.undefined
      const { id, joined } = yield* begin
      const rest = forwarder(call, listener, id, questions)
      if (joined) return yield* restore(rest)
      questions?.ownTurn(id)
      const stop = Effect.suspend(() => {
        call.progress?.end()
        return Effect.andThen(conversation.cancel(id), rest)
      }).pipe(Effect.timeoutOption(abortBound))
      return yield* restore(rest).pipe(
        Effect.onInterrupt(() => stop),
        // Nobody reads the events any more: the turn has nobody to work for.
        Effect.tapErrorTag("ConnectionClosed", () => conversation.cancel(id)),
      )
    }),
  )
  return Effect.map(told(conversation.id, Effect.scoped(run)), (result) =>
    inThread(call, conversation.id, result),
  )
}

export const runTurn = (call: TurnCall): Effect.Effect<CallToolResult, InputRequired> =>
  during(
    call,
    call.conversation
      .submit(
        { type: "user_input", items: [{ type: "text", text: call.prompt }] },
        {
          whileRunning: call.whileRunning ?? "wait",
          ...(call.submissionId === undefined ? {} : { id: call.submissionId }),
        },
      )
      .pipe(
        Effect.map(({ disposition, id }) => {
          if (call.latest !== undefined) call.latest.id = call.conversation.id
          return { id, joined: disposition === "joined" }
        }),
      ),
  )

/** Goes on with a turn that an earlier round of the call began. */
export const followTurn = (
  call: Followed,
  turnId: string,
): Effect.Effect<CallToolResult, InputRequired> =>
  during(call, Effect.succeed({ id: turnId, joined: false }))
