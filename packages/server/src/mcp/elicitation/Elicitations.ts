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
import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import type { PeerControl } from "../../jsonrpc/Peer.ts"
import { elicitParams, isQuestion, type Question, questionId } from "./ElicitationParams.ts"
import { denial, readAnswer, refOf, submitAnswer } from "./QuestionAnswers.ts"
import type { InputRequired } from "../RequestContext.ts"

interface Call {
  readonly conversation: Pick<Conversation, "id" | "submit" | "attach" | "cancel">
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
  /** Of a call that cannot ask: it ends with its questions, once there are any. */
  readonly round?: {
    readonly isDue: () => boolean
    /** `next`: the first event that the client was not told of. */
    readonly suspend: (next: number) => Effect.Effect<never, InputRequired>
  }
}

export interface Elicitations {
  /** For the length of the scope; what is open then is withdrawn. */
  readonly of: (call: Call) => Effect.Effect<CallElicitations, never, Scope.Scope>
}

type Because = "malformed" | "failed"

const deny = (call: Call, question: Question, because: Because, what: string) =>
  Effect.andThen(
    Effect.logWarning(`question of call ${questionId(question)} denied: ${what}`),
    submitAnswer(call.conversation, denial(refOf(question)), because),
  )

const ask = (call: Call, question: Question): Effect.Effect<void> => {
  const { conversation, peer, requestId } = call
  const params = elicitParams(question, { requestId, threadId: conversation.id })
  return peer.request(Elicit, params).pipe(
    Effect.matchEffect({
      onSuccess: (answer) => {
        const read = readAnswer(refOf(question), answer)
        return Result.isSuccess(read)
          ? submitAnswer(conversation, read.success)
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
