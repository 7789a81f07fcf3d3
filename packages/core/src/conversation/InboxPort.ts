/**
 * The port of a turn: sends the events, questions and requests of the turn's fiber as commands to the inbox of its
 * conversation.
 * It decides nothing, and records nothing itself.
 */
import type { SubmissionId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import { answerOf, clientOutcomeOf, inputAnswerOf } from "../approvals/Elicitation.ts"
import { grantFor } from "../approvals/SessionGrants.ts"
import { heldNow } from "../decider/HeldPermissions.ts"
import { imageNames } from "../log/ImageNames.ts"
import { formFault } from "../question/FormLimits.ts"
import { quoted } from "../question/VisibleText.ts"
import { CallIds } from "../turn/CallIds.ts"
import type { TurnPort } from "../turn/TurnPort.ts"
import type { ApprovalWaiters } from "./ApprovalWaiters.ts"
import type { Inbox } from "./Inbox.ts"
import type { Journal } from "./Journal.ts"

/** The parts of a conversation that its turns use. */
export interface TurnParts {
  readonly inbox: Inbox
  readonly journal: Journal
  readonly waiters: ApprovalWaiters
}

const elicit =
  ({ waiters }: TurnParts, turnId: SubmissionId): TurnPort["elicit"] =>
  (form) =>
    Effect.suspend(() => {
      const { message, requestedSchema, server } = form
      const fault = formFault(form)
      const asked = waiters.ask(turnId, { _tag: "Elicitation", server, message, requestedSchema })
      const logged =
        fault === undefined
          ? Effect.void
          : Effect.logWarning(`declined a form of tool server ${quoted(server)}: ${fault}`)
      return Effect.andThen(logged, Effect.map(asked, answerOf))
    })

/** The port of this turn. */
export const inboxPort = (turnId: SubmissionId, parts: TurnParts): TurnPort => {
  const { inbox, journal, waiters } = parts
  // The ids that the events use already: found at the first call, and kept no longer than the turn.
  let callIds: CallIds | undefined
  return {
    eventCallId: (callId) => (callIds ??= new CallIds(journal.allEvents)).take(callId),
    imageNames: (urls) => Effect.sync(() => imageNames(journal.allEvents, urls)),
    ask: (request) => waiters.ask(turnId, request),
    elicit: elicit(parts, turnId),
    callClient: (call) =>
      Effect.map(waiters.ask(turnId, { _tag: "ClientCall", ...call }), clientOutcomeOf),
    requestInput: (request) =>
      Effect.map(waiters.ask(turnId, { _tag: "UserInput", ...request }), inputAnswerOf),
    canRequestInput: Effect.sync(() => journal.current.approvals.formListeners > 0),
    granted: (request) =>
      Effect.sync(() => grantFor(journal.current.approvals.grants, request) !== undefined),
    permissions: Effect.sync(() => heldNow(journal.current.permissions)),
    emit: (messages) => Effect.asVoid(inbox.send({ input: { _tag: "Emit", turnId, messages } })),
    recordCall: (call) =>
      Effect.map(
        inbox.ask({ _tag: "StartCall", turnId, ...call }),
        (reply) => reply._tag === "Decision" && reply.decision.proceed === true,
      ),
    emitCompaction: (messages) =>
      Effect.asVoid(inbox.send({ input: { _tag: "Emit", turnId, messages, ofCompaction: true } })),
    advance: (progress) =>
      Effect.map(inbox.ask({ _tag: "Advance", turnId, ...progress }), (reply) =>
        reply._tag === "Decision" ? reply.step : undefined,
      ),
  }
}
