/**
 * The questions that one connection puts to its client: asked once each, withdrawn when they are over, answered to the
 * conversation. Decides nothing but how an answer is read. Keeps its part of L7: what cannot be read, and an error, is
 * a denial with its reason; the answer to one question never counts for another.
 */
import type { Conversation } from "@colloquy/core/Conversation"
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import type { Event } from "@colloquy/protocol/EventMsg"
import type { JsonRpcError, RequestId } from "@colloquy/protocol/JsonRpc"
import { Elicit } from "@colloquy/protocol/mcp/CodexMcp"
import { readDecision, readElicitResult } from "@colloquy/protocol/mcp/Elicitation"
import type { Op } from "@colloquy/protocol/Op"
import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import type { PeerControl } from "../Peer.ts"
import { elicitParams, isQuestion, type Question, questionId } from "./ElicitationParams.ts"

interface Call {
  readonly conversation: Pick<Conversation, "id" | "submit">
  readonly requestId: RequestId
  readonly peer: PeerControl
}

/** The questions that one tool call puts. */
export interface CallElicitations {
  /** The call runs this turn: its questions are put in the name of this call, not of another one that listens. */
  readonly runs: (turnId: string) => void
  /** Asks and returns. The same question again, and one that is another call's to put, is left alone. */
  readonly put: (event: Event) => Effect.Effect<void>
  /** The question of that call of the model is over: the client is told that no answer is wanted any more. */
  readonly withdraw: (callId: string) => Effect.Effect<void>
}

export interface Elicitations {
  /** For the length of the scope; what is open then is withdrawn. */
  readonly of: (call: Call) => Effect.Effect<CallElicitations, never, Scope.Scope>
}

type Because = "malformed" | "failed"

type AnswerOp = Extract<
  Op,
  { readonly type: "exec_approval" | "patch_approval" | "elicitation_answer" }
>

/** The op that says what the client answered; fails with what cannot be read. */
const readAnswer = (question: Question, answer: unknown): Result.Result<AnswerOp, string> => {
  const named = { id: questionId(question), question: question.seq }
  const { type } = question.msg
  return type === "elicitation_request"
    ? Result.map(readElicitResult(answer), (result) => ({
        type: "elicitation_answer",
        ...named,
        ...result,
      }))
    : Result.map(readDecision(answer), (decision) => ({
        type: type === "exec_approval_request" ? "exec_approval" : "patch_approval",
        ...named,
        decision,
      }))
}

const denial = (question: Question): AnswerOp => {
  const named = { id: questionId(question), question: question.seq }
  switch (question.msg.type) {
    case "exec_approval_request":
      return { type: "exec_approval", ...named, decision: "denied" }
    case "apply_patch_approval_request":
      return { type: "patch_approval", ...named, decision: "denied" }
    case "elicitation_request":
      return { type: "elicitation_answer", ...named, action: "decline" }
  }
}

/** The first answer to a question wins; this one may come too late. */
const submit = ({ conversation }: Call, op: AnswerOp, because?: Because): Effect.Effect<void> =>
  conversation.submit(op, because === undefined ? {} : { because }).pipe(
    Effect.asVoid,
    Effect.catch(({ message }) => Effect.logDebug(`an answer was not taken: ${message}`)),
  )

const deny = (call: Call, question: Question, because: Because, what: string) =>
  Effect.andThen(
    Effect.logWarning(`question of call ${questionId(question)} denied: ${what}`),
    submit(call, denial(question), because),
  )

const ask = (call: Call, question: Question): Effect.Effect<void> => {
  const { conversation, peer, requestId } = call
  const params = elicitParams(question, { requestId, threadId: conversation.id })
  return peer.request(Elicit, params).pipe(
    Effect.matchEffect({
      onSuccess: (answer) => {
        const read = readAnswer(question, answer)
        return Result.isSuccess(read)
          ? submit(call, read.success)
          : deny(call, question, "malformed", `the answer cannot be read, ${read.failure}`)
      },
      onFailure: (failure: JsonRpcError | ConnectionClosed) =>
        failure._tag === "ConnectionClosed"
          ? // No answer and no refusal: others may still answer, the turn ends with its own connection.
            Effect.logDebug(`question not answered: ${failure.reason}`)
          : deny(call, question, "failed", `the client answered with error ${failure.code}`),
    }),
  )
}

/** Those of one connection. */
export const make = (): Elicitations => {
  /** Questions put by some call of this connection that has not ended. */
  const asked = new Set<string>()
  /** Turns that some call of this connection runs. */
  const running = new Set<string>()

  return {
    of: Effect.fnUntraced(function* (call) {
      const name = (id: string | number) => `${call.conversation.id} ${id}`
      const ownAsked = new Set<string>()
      let ownTurn: string | undefined
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          for (const question of ownAsked) asked.delete(question)
          if (ownTurn !== undefined) running.delete(ownTurn)
        }),
      )
      const fibers = yield* FiberMap.make<string>()
      return {
        runs: (turnId) => {
          ownTurn = name(turnId)
          running.add(ownTurn)
        },
        put: (event) =>
          Effect.suspend(() => {
            if (!isQuestion(event) || asked.has(name(event.seq))) return Effect.void
            const turn = name(event.id)
            if (turn !== ownTurn && running.has(turn)) return Effect.void
            asked.add(name(event.seq))
            ownAsked.add(name(event.seq))
            return Effect.asVoid(FiberMap.run(fibers, questionId(event), ask(call, event)))
          }),
        withdraw: (callId) => FiberMap.remove(fibers, callId),
      }
    }),
  }
}
