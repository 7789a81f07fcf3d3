/**
 * The questions of conversations that one connection puts to its client, once each however many of its listeners hear
 * them; withdrawn when they are over or when nobody of the connection listens to the conversation any more. Keeps its
 * part of L7: an error, and an answer that cannot be read, is a denial with its reason; an answer counts for its own
 * question alone.
 */
import type { Conversation } from "@colloquy/core/Conversation"
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import type { Event } from "@colloquy/protocol/EventMsg"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { Op } from "@colloquy/protocol/Op"
import { ApplyPatchApproval, ExecCommandApproval } from "@colloquy/protocol/app/Approvals"
import type { ApprovalForm } from "@colloquy/protocol/app/Session"
import type { ReviewDecision } from "@colloquy/protocol/Policy"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberMap from "effect/FiberMap"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { isQuestion, type Question, questionId } from "../mcp/ElicitationParams.ts"
import { isUnusable } from "../Outgoing.ts"
import type { PeerControl } from "../Peer.ts"
import { execParams, patchParams } from "./QuestionParams.ts"

/** Those of one conversation. */
export interface Desk {
  /** Asks and returns; the same question again is left alone. */
  readonly put: (event: Event) => Effect.Effect<void>
  /** The question of that call of the model is over: nobody needs an answer any more. */
  readonly over: (callId: string) => Effect.Effect<void>
}

export interface Questions {
  /** For the length of the scope; shared by all who ask for that conversation. */
  readonly of: (
    conversation: Conversation,
    peer: PeerControl,
  ) => Effect.Effect<Desk, never, Scope.Scope>
}

/** The first answer to a question wins; this one may come too late. */
const submit = (
  conversation: Conversation,
  op: Op,
  because?: "malformed" | "failed",
): Effect.Effect<void> =>
  conversation.submit(op, because === undefined ? {} : { because }).pipe(
    Effect.asVoid,
    Effect.catch(({ message }) => Effect.logDebug(`an answer was not taken: ${message}`)),
  )

const answerOp = (question: Question, decision: ReviewDecision): Op => {
  const named = { id: questionId(question), question: question.seq }
  switch (question.msg.type) {
    case "exec_approval_request":
      return { type: "exec_approval", ...named, decision }
    case "apply_patch_approval_request":
      return { type: "patch_approval", ...named, decision }
    case "elicitation_request":
      return { type: "elicitation_answer", ...named, action: "decline" }
  }
}

const request = (
  conversation: Conversation,
  peer: PeerControl,
  { msg }: Question,
  form: ApprovalForm,
): Effect.Effect<{ readonly decision: ReviewDecision }, JsonRpcError | ConnectionClosed> => {
  switch (msg.type) {
    case "exec_approval_request":
      return peer.request(ExecCommandApproval, execParams(conversation.id, msg, form))
    case "apply_patch_approval_request":
      return peer.request(ApplyPatchApproval, patchParams(conversation.id, msg, form))
    case "elicitation_request":
      // This dialect has no form that a person could fill in.
      return Effect.succeed({ decision: "denied" })
  }
}

const ask = (
  conversation: Conversation,
  peer: PeerControl,
  question: Question,
  form: ApprovalForm,
): Effect.Effect<void> =>
  request(conversation, peer, question, form).pipe(
    Effect.matchEffect({
      onSuccess: ({ decision }) => submit(conversation, answerOp(question, decision)),
      onFailure: (failure) =>
        failure._tag === "ConnectionClosed"
          ? // No answer and no refusal: others may still answer, or this client may come back.
            Effect.logDebug(`question not answered: ${failure.reason}`)
          : Effect.andThen(
              Effect.logWarning(
                `question of call ${questionId(question)} denied: ${failure.message}`,
              ),
              submit(
                conversation,
                answerOp(question, "denied"),
                isUnusable(failure) ? "malformed" : "failed",
              ),
            ),
    }),
  )

const makeDesk = Effect.fnUntraced(function* (
  conversation: Conversation,
  peer: PeerControl,
  form: () => ApprovalForm,
): Effect.fn.Return<Desk, never, Scope.Scope> {
  const fibers = yield* FiberMap.make<string>()
  /** Numbers of the questions that were put and are not over, by their calls. */
  const asked = new Map<string, number>()
  return {
    put: (event) =>
      Effect.suspend(() => {
        if (!isQuestion(event) || asked.get(questionId(event)) === event.seq) return Effect.void
        asked.set(questionId(event), event.seq)
        return Effect.asVoid(
          FiberMap.run(fibers, questionId(event), ask(conversation, peer, event, form())),
        )
      }),
    over: (callId) =>
      Effect.suspend(() => (asked.delete(callId) ? FiberMap.remove(fibers, callId) : Effect.void)),
  }
})

interface Shared {
  readonly desk: Desk
  readonly scope: Scope.Closeable
  users: number
}

/** @param form how this client is asked */
export const make = (form: () => ApprovalForm): Questions => {
  const desks = new Map<string, Shared>()
  const one = Semaphore.makeUnsafe(1)

  const enter = Effect.fnUntraced(function* (conversation: Conversation, peer: PeerControl) {
    const known = desks.get(conversation.id)
    if (known !== undefined) {
      known.users++
      return known
    }
    const scope = yield* Scope.make()
    const desk = yield* Scope.provide(makeDesk(conversation, peer, form), scope)
    const shared: Shared = { desk, scope, users: 1 }
    desks.set(conversation.id, shared)
    return shared
  })

  const leave = (conversation: Conversation, shared: Shared): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (--shared.users > 0) return Effect.void
      desks.delete(conversation.id)
      return Scope.close(shared.scope, Exit.void)
    })

  return {
    of: (conversation, peer) =>
      Effect.map(
        Effect.acquireRelease(one.withPermit(enter(conversation, peer)), (shared) =>
          one.withPermit(leave(conversation, shared)),
        ),
        ({ desk }) => desk,
      ),
  }
}
