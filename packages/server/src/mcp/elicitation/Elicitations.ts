/**
 * The questions of conversations as requests `elicitation/create`, in the revisions where the server may send requests
 * (era `handshake`). Supplies `Present`; `QuestionBroker` does everything else.
 */
import type { Conversation } from "@colloquy/core/Conversation"
import type { RequestId } from "@colloquy/protocol/JsonRpc"
import { Elicit } from "@colloquy/protocol/mcp/CodexMcp"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { PeerControl } from "../../jsonrpc/Caller.ts"
import { refOf } from "../../questions/Question.ts"
import * as QuestionBroker from "../../questions/QuestionBroker.ts"
import type { InputRequired } from "../RequestContext.ts"
import { readAnswer } from "./ElicitationAnswer.ts"
import { elicitParams } from "./ElicitationParams.ts"

/** A tool call, and the conversation whose questions it puts to its client. */
export interface ElicitingCall {
  readonly conversation: Pick<Conversation, "id" | "submit" | "attach" | "cancel">
  readonly requestId: RequestId
  readonly peer: PeerControl
}

/** The questions that one tool call puts. A call that owns its turn puts the questions of that turn in its own name. */
export interface CallElicitations extends QuestionBroker.ConversationQuestions {
  /** Only for a call that cannot send requests: its result carries its questions, as soon as there are any. */
  readonly inResult?: {
    /** True while a question is pending. */
    readonly isDue: () => boolean
    /** Ends the call with the pending questions. `next` is the first event that was not sent to the client. */
    readonly end: (next: number) => Effect.Effect<never, InputRequired>
  }
}

/** How the tool calls of one connection put questions, in one era. */
export interface Elicitations {
  /** The questions of one call. What is pending when the scope closes is withdrawn. */
  readonly of: (call: ElicitingCall) => Effect.Effect<CallElicitations, never, Scope.Scope>
  /**
   * The questions of a conversation, for all calls that share them: put in the name of the first one, and withdrawn when
   * the last scope closes.
   */
  readonly share: (call: ElicitingCall) => Effect.Effect<CallElicitations, never, Scope.Scope>
}

/** Presents a question as `elicitation/create`. Its result has no schema of its own: `readAnswer` is more lenient. */
const presentTo =
  ({ conversation, peer, requestId }: ElicitingCall): QuestionBroker.Present =>
  (question) =>
    Effect.map(
      peer.request(Elicit, elicitParams(question, { requestId, threadId: conversation.id })),
      (answer) => readAnswer(refOf(question), answer),
    )

const followerOf = (call: ElicitingCall): QuestionBroker.Follower => ({
  conversation: call.conversation,
  present: presentTo(call),
})

/** Those of one connection, whose scope it is made in. */
export const make: Effect.Effect<Elicitations, never, Scope.Scope> = Effect.map(
  QuestionBroker.make(),
  ({ follow, share }) => ({
    of: (call) => follow(followerOf(call)),
    share: (call) => share(followerOf(call)),
  }),
)
