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
import {
  ApplyPatchApproval,
  ElicitationRequest,
  ExecCommandApproval,
} from "@colloquy/protocol/app/Approvals"
import { present } from "@colloquy/protocol/app/Fields"
import type { ApprovalForm } from "@colloquy/protocol/app/Session"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberMap from "effect/FiberMap"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { isQuestion, type Question, questionId } from "../../mcp/elicitation/ElicitationParams.ts"
import {
  type AnswerOp,
  denial,
  refOf,
  submitAnswer,
} from "../../mcp/elicitation/QuestionAnswers.ts"
import { isUnusable } from "../../jsonrpc/Outgoing.ts"
import type { PeerControl } from "../../jsonrpc/Peer.ts"
import { execParams, formParams, patchParams } from "./QuestionParams.ts"

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

/** What the client says. */
const request = (
  conversation: Conversation,
  peer: PeerControl,
  question: Question,
  form: ApprovalForm,
): Effect.Effect<AnswerOp, JsonRpcError | ConnectionClosed> => {
  const { msg } = question
  const named = { id: questionId(question), question: question.seq }
  switch (msg.type) {
    case "exec_approval_request":
      return Effect.map(
        peer.request(ExecCommandApproval, execParams(conversation.id, msg, form)),
        ({ decision }) => ({ type: "exec_approval", ...named, decision }),
      )
    case "apply_patch_approval_request":
      return Effect.map(
        peer.request(ApplyPatchApproval, patchParams(conversation.id, msg, form)),
        ({ decision }) => ({ type: "patch_approval", ...named, decision }),
      )
    case "elicitation_request":
      return Effect.map(
        peer.request(ElicitationRequest, formParams(conversation.id, msg)),
        (answer) => ({ type: "elicitation_answer", ...named, ...present(answer) }),
      )
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
      onSuccess: (op) => submitAnswer(conversation, op),
      onFailure: (failure) =>
        failure._tag === "ConnectionClosed"
          ? // No answer and no refusal: others may still answer, or this client may come back.
            Effect.logDebug(`question not answered: ${failure.reason}`)
          : Effect.andThen(
              Effect.logWarning(
                `question of call ${questionId(question)} denied: ${failure.message}`,
              ),
              submitAnswer(
                conversation,
                denial(refOf(question)),
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
