/**
 * A tool call that runs one turn: submits the prompt, forwards the turn (`TurnForwarder`) and resolves with its result.
 *
 *     attached ── submitted ──► forwarding ── terminal event ───────► result
 *                                   ├──────── call cancelled ───────► turn interrupted, `turn_aborted` forwarded, no result
 *                                   ├──────── connection closed ────► turn interrupted
 *                                   └──────── question, stateless ──► `InputRequired`; the turn continues meanwhile
 *
 * A turn never continues without a call or a listener that can stop it (L14). As in the original, a cancelled call still
 * forwards the turn's `turn_aborted`; the peer then sends no response.
 */
import type { Conversation } from "@colloquy/core/Conversation"
import type { AttachError, SubmitError } from "@colloquy/core/ConversationErrors"
import type { WhileRunning } from "@colloquy/core/decider/Decision"
import { StoreError } from "@colloquy/core/StoreErrors"
import type { ListenerEnd } from "@colloquy/core/listeners/Listener"
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import type { CallToolResult } from "@colloquy/protocol/mcp/CodexMcp"
import * as Effect from "effect/Effect"
import type { ConnectionState } from "../ConnectionState.ts"
import type { InputRequired, RequestContext } from "../RequestContext.ts"
import type { CallProgress } from "./CallProgress.ts"
import { failureIn, inThread, notAvailable, notStarted } from "./ToolResults.ts"
import { TurnForwarder } from "./TurnForwarder.ts"

/** A turn that a call follows to its end. */
export interface FollowedTurn {
  readonly conversation: Conversation
  /** Number of the first event to forward; default: the next one that comes. */
  readonly from?: number
  /** Undefined for a call without progress. */
  readonly progress: CallProgress | undefined
}

/** A turn that a call starts. */
export interface NewTurn extends FollowedTurn {
  readonly prompt: string
  /** True: the conversation exists only when its first submission was accepted. Default false. */
  readonly isFirst?: boolean
  /** Id of the submission; without one the conversation numbers it. */
  readonly submissionId?: string
  /** What becomes of the prompt while another turn is running. Default `wait`: its own turn, after those before it. */
  readonly whileRunning?: WhileRunning
}

/** Longest time from the interrupt of a turn to its terminal event: one second and the kill grace; less than `InFlight` waits. */
const abortBound = "1750 millis"

const ended = "the conversation ended before the turn did"

type TurnFailure = ConnectionClosed | ListenerEnd | InputRequired | AttachError | SubmitError

/** Why the log of a conversation could not be created; its message does not name the conversation, which does not exist. */
const messageOfCreation = (failure: Exclude<TurnFailure, InputRequired>): string =>
  failure._tag === "ConversationUnavailable"
    ? failure.because instanceof StoreError
      ? failure.because.message
      : failure.reason
    : messageOf(failure)

const messageOf = (failure: Exclude<TurnFailure, InputRequired>): string => {
  if (failure._tag === "Done") return ended
  return failure._tag === "ConnectionClosed" ? failure.reason : failure.message
}

const failureOf = (threadId: string, failure: Exclude<TurnFailure, InputRequired>) =>
  failure._tag === "ConversationUnavailable"
    ? notAvailable(threadId, failure)
    : failureIn(threadId, messageOf(failure))

/**
 * Every failure but `InputRequired` becomes a result with its message.
 *
 * @param exists false while no submission has created the conversation: its id would lead nowhere
 */
const asResult = (
  { threadIdPlace }: ConnectionState,
  threadId: string,
  exists: () => boolean,
  run: Effect.Effect<CallToolResult, TurnFailure>,
): Effect.Effect<CallToolResult, InputRequired> =>
  Effect.matchEffect(run, {
    onFailure: (failure) => {
      if (failure._tag === "InputRequired") return Effect.fail(failure)
      return Effect.succeed(
        exists()
          ? inThread(threadIdPlace, threadId, failureOf(threadId, failure))
          : notStarted(messageOfCreation(failure)),
      )
    },
    onSuccess: (result) => Effect.succeed(inThread(threadIdPlace, threadId, result)),
  })

interface StartedTurn {
  readonly id: string
  /** The prompt became part of a turn that another call runs. It cannot be removed again, and only that call stops the turn. */
  readonly joined: boolean
}

/** Makes an effect interruptible again inside an uninterruptible region. */
type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** Forwards the turn that the call started. Interrupted, it interrupts the turn and still forwards its end. */
const guarded = (
  forward: Effect.Effect<CallToolResult, TurnFailure>,
  restore: Restore,
  { conversation, progress }: FollowedTurn,
  turnId: string,
): Effect.Effect<CallToolResult, TurnFailure> => {
  const cancel = conversation.cancel(turnId)
  const stop = Effect.suspend(() => {
    progress?.end()
    return Effect.andThen(cancel, forward)
  }).pipe(Effect.timeoutOption(abortBound))
  return restore(forward).pipe(
    Effect.onInterrupt(() => stop),
    // No client reads the events any more, so the turn works for none.
    Effect.tapErrorTag("ConnectionClosed", () => cancel),
  )
}

/** Attaches, starts the turn, and forwards it to its result. */
const follow = (
  connection: ConnectionState,
  context: RequestContext,
  turn: FollowedTurn,
  start: Effect.Effect<StartedTurn, SubmitError>,
  isFirst = false,
): Effect.Effect<CallToolResult, InputRequired> => {
  const { conversation, from } = turn
  let exists = !isFirst
  const { peer, requestId } = context
  const elicitations = connection.elicitations(context)
  const attach = conversation.attach({
    answers: elicitations !== undefined,
    ...(from === undefined ? {} : { from }),
  })
  // Uninterruptible from the submission to the guard: otherwise nothing would stop the turn.
  const run = Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const listener = yield* restore(attach)
      const questions = yield* (
        elicitations?.of({ conversation, peer, requestId }) ?? Effect.undefined
      )
      const { id, joined } = yield* start
      exists = true
      const events = connection.events(context)
      const forwarded = { ...turn, turnId: id, listener, events, questions }
      const forward = new TurnForwarder(context, forwarded).run
      if (joined) return yield* restore(forward)
      questions?.ownTurn(id)
      return yield* guarded(forward, restore, turn, id)
    }),
  )
  return asResult(connection, conversation.id, () => exists, Effect.scoped(run))
}

/** Submits the prompt and resolves with the result of its turn. Makes the conversation the latest of the connection. */
export const runTurn = (
  connection: ConnectionState,
  context: RequestContext,
  turn: NewTurn,
): Effect.Effect<CallToolResult, InputRequired> => {
  const { conversation, isFirst, prompt, submissionId, whileRunning = "wait" } = turn
  const options = { whileRunning, ...(submissionId === undefined ? {} : { id: submissionId }) }
  const start = conversation
    .submit({ type: "user_input", items: [{ type: "text", text: prompt }] }, options)
    .pipe(
      Effect.map(({ disposition, id }) => {
        connection.setLatest(context, conversation.id)
        return { id, joined: disposition === "joined" }
      }),
    )
  return follow(connection, context, turn, start, isFirst)
}

/** Follows a turn that an earlier call started and that a question ended, and resolves with the result of the turn. */
export const continueTurn = (
  connection: ConnectionState,
  context: RequestContext,
  turn: FollowedTurn,
  turnId: string,
): Effect.Effect<CallToolResult, InputRequired> =>
  follow(connection, context, turn, Effect.succeed({ id: turnId, joined: false }))
