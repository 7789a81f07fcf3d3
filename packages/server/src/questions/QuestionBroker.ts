/**
 * The questions that conversations put to one client, in any dialect: each is presented once, withdrawn when its answer
 * no longer matters, and answered to its conversation. A dialect supplies one function, `Present`. Decides nothing about
 * a command or a patch, and attaches to no conversation: its callers read the deliveries and pass the questions on.
 *
 *     absent ── put ──► pending ── answer ──────────────────► submitted; the first answer counts
 *       ▲                  ├────── unreadable, error, defect ► denied with its reason
 *       │                  ├────── connection closed ────────► left to other clients, or to the deadline
 *       │                  └────── withdraw ─────────────────► request withdrawn: answered elsewhere, expired, interrupted
 *       └── the last follower's scope closes: its pending requests are withdrawn, and another follower may put them
 *
 * Keeps its part of L7: what cannot be presented or read allows nothing.
 */
import type { Conversation } from "@colloquy/core/Conversation"
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import type { Event } from "@colloquy/protocol/EventMsg"
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import { CountedSet } from "../internal/CountedSet.ts"
import * as Shared from "../internal/Shared.ts"
import { UnusableResponse } from "../jsonrpc/Outgoing.ts"
import { type ClientCall, isClientCall, isQuestion, type Question, questionId } from "./Question.ts"
import { type AnswerOp, type DenialReason, refusalOp, submitAnswer } from "./QuestionAnswer.ts"

/**
 * How a dialect presents a question: sends one request and reads its result. Resolves with the op of the answer, or with
 * what of the result cannot be read. Interruption withdraws the request.
 */
export type Present = (
  question: Question,
) => Effect.Effect<Result.Result<AnswerOp, string>, JsonRpcError | ConnectionClosed>

/** Likewise, how it has the client run one of its tools. */
export type PresentCall = (call: ClientCall) => ReturnType<Present>

/** A request or a listener that follows a conversation and can present its questions. */
export interface Follower {
  /** Gets the answers. */
  readonly conversation: Pick<Conversation, "id" | "submit">
  /** Presents the questions. */
  readonly present: Present
  /** Presents the calls of the client's tools. Without it they are left to other followers. */
  readonly presentCall?: PresentCall
}

/** The questions of one conversation, as one follower puts them. */
export interface ConversationQuestions {
  /** The follower runs this turn: until its scope closes, other followers leave the questions of the turn to it. */
  readonly ownTurn: (turnId: string) => void
  /**
   * Presents the question of this event and returns at once. Does nothing for an event that is no question, for a
   * question that a follower has presented already, and for one of a turn that another follower owns.
   */
  readonly put: (event: Event) => Effect.Effect<void>
  /** Withdraws the question with this id: it is resolved. Returns when no answer to it is submitted any more. */
  readonly withdraw: (id: string) => Effect.Effect<void>
}

/** The questions that are put to one client. */
export interface QuestionBroker {
  /** Until the scope closes; what is pending then is withdrawn. */
  readonly follow: (follower: Follower) => Effect.Effect<ConversationQuestions, never, Scope.Scope>
  /**
   * Follows the conversation once for all that share it, and once for all that also present calls: the first one's `present`
   * counts, and what is pending is withdrawn when the last scope closes.
   */
  readonly share: (follower: Follower) => Effect.Effect<ConversationQuestions, never, Scope.Scope>
}

/** Options of a broker. */
export interface QuestionBrokerOptions {
  /** Turns that some follower owns, by `turnKey`. Default: those that followers of this broker own. */
  readonly owned?: CountedSet
}

/** Names one turn of one conversation in a set. */
export const turnKey = (conversationId: string, turnId: string): string =>
  `${conversationId} ${turnId}`

/** What a follower can present of an event: a question, or a call of a tool of its client. */
const askedBy = (event: Event, { presentCall }: Follower): Question | ClientCall | undefined =>
  isQuestion(event) || (isClientCall(event) && presentCall !== undefined) ? event : undefined

const presentedBy = (
  { present, presentCall }: Follower,
  asked: Question | ClientCall,
): ReturnType<Present> => {
  if (!isClientCall(asked)) return present(asked)
  return presentCall === undefined
    ? new JsonRpcError({ code: ErrorCode.internalError, message: "it cannot be presented" })
    : presentCall(asked)
}

/** Presents the question. Any defect in that is an error like that of a client, so that the question is denied. */
const presented = (follower: Follower, question: Question | ClientCall) =>
  Effect.suspend(() => presentedBy(follower, question)).pipe(
    Effect.catchDefect((defect) =>
      Effect.andThen(
        Effect.logError("a question could not be presented", defect),
        new JsonRpcError({ code: ErrorCode.internalError, message: "it cannot be presented" }),
      ),
    ),
  )

/** Presents the question, and submits what became of it. */
const ask = (follower: Follower, question: Question | ClientCall): Effect.Effect<void> => {
  const { conversation } = follower
  const deny = (because: DenialReason, fault: string) =>
    Effect.andThen(
      Effect.logWarning(`question of call ${questionId(question)} denied: ${fault}`),
      submitAnswer(conversation, refusalOp(question), because),
    )
  return Effect.matchEffect(presented(follower, question), {
    onSuccess: (answer) =>
      Result.isSuccess(answer)
        ? submitAnswer(conversation, answer.success)
        : deny("malformed", `the answer cannot be read, ${answer.failure}`),
    onFailure: (failure) => {
      // Neither an answer nor a refusal: other clients may still answer, or this one after it has reconnected.
      if (failure._tag === "ConnectionClosed") {
        return Effect.logDebug(`question not answered: ${failure.reason}`)
      }
      return failure instanceof UnusableResponse
        ? deny("malformed", failure.message)
        : deny("failed", `error ${failure.code}, ${failure.message}`)
    },
  })
}

/** Makes the broker of one client. What is shared when the scope closes is withdrawn then. */
export const make = Effect.fnUntraced(function* ({
  owned = new CountedSet(),
}: QuestionBrokerOptions = {}): Effect.fn.Return<QuestionBroker, never, Scope.Scope> {
  /** Questions that a follower has presented and that are not resolved yet. */
  const pending = new Set<string>()
  const shared = yield* Shared.make<ConversationQuestions>()

  const follow: QuestionBroker["follow"] = Effect.fnUntraced(function* (follower) {
    const scope = yield* Effect.scope
    const { id: conversationId } = follower.conversation
    /** Keys in `pending` of this follower's questions, by the ids of the questions. */
    const own = new Map<string, string>()
    const ownTurns = new Map<string, () => void>()
    yield* Scope.addFinalizer(
      scope,
      Effect.sync(() => {
        for (const key of own.values()) pending.delete(key)
        for (const disown of ownTurns.values()) disown()
      }),
    )
    /** Made for the first question: most followers put none. */
    let fibers: FiberMap.FiberMap<string> | undefined
    const presenting = Effect.suspend(() =>
      fibers === undefined
        ? Effect.map(Scope.provide(FiberMap.make<string>(), scope), (made) => (fibers ??= made))
        : Effect.succeed(fibers),
    )
    const isOthers = (turnId: string) =>
      !ownTurns.has(turnId) && owned.has(turnKey(conversationId, turnId))
    return {
      ownTurn: (turnId) => {
        if (!ownTurns.has(turnId)) ownTurns.set(turnId, owned.add(turnKey(conversationId, turnId)))
      },
      put: (event) =>
        Effect.suspend(() => {
          const key = `${conversationId} ${event.seq}`
          const asked = askedBy(event, follower)
          if (asked === undefined || pending.has(key) || isOthers(event.id)) return Effect.void
          const id = questionId(asked)
          const before = own.get(id)
          if (before !== undefined) pending.delete(before)
          pending.add(key)
          own.set(id, key)
          return Effect.flatMap(presenting, (map) =>
            Effect.asVoid(FiberMap.run(map, id, ask(follower, asked))),
          )
        }),
      withdraw: (id) =>
        Effect.suspend(() => {
          const key = own.get(id)
          if (key === undefined) return Effect.void
          own.delete(id)
          pending.delete(key)
          return fibers === undefined ? Effect.void : FiberMap.remove(fibers, id)
        }),
    }
  })

  return {
    follow,
    share: (follower) => {
      const { conversation, presentCall } = follower
      const key = presentCall === undefined ? conversation.id : `${conversation.id} calls`
      return shared(key, follow(follower))
    },
  }
})
