/** What one connection remembers: who its client is, its subscriptions, and the questions that are with it. */
import type { Server } from "../Server.ts"
import type { Answers } from "@colloquy/core/approvals/Approval"
import type { ResultOf, Params } from "@colloquy/protocol/Method"
import type { ApprovalForm, Initialize } from "@colloquy/protocol/app/Session"
import type * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { type Broadcast, broadcasts } from "./subscriptions/Broadcast.ts"
import type { Auth } from "./ports/AuthPort.ts"
import { type DeliveryCursor, deliveryCursors } from "./subscriptions/DeliveryCursor.ts"
import * as AnswerGate from "./subscriptions/AnswerGate.ts"
import * as Notices from "./subscriptions/Notices.ts"
import type { PeerControl } from "../jsonrpc/Caller.ts"
import { presentV1 } from "./questions/V1Approvals.ts"
import * as QuestionBroker from "../questions/QuestionBroker.ts"
import * as Subscriptions from "./subscriptions/Subscriptions.ts"
import * as TellAfter from "./subscriptions/TellAfter.ts"

export interface AppConnection {
  /** What goes on behind an answer lives in it. */
  readonly scope: Scope.Scope
  /** False when it was done before. */
  readonly initialize: (params: Params<typeof Initialize>) => boolean
  readonly initialized: () => boolean
  readonly approvals: () => ApprovalForm
  /** Which questions can be put to its client; undefined: none. */
  readonly answers: () => Answers | undefined
  /** Names the client once it is known (§1.2). */
  readonly userAgent: () => ResultOf<typeof Initialize>
  readonly subscriptions: Subscriptions.Subscriptions
  readonly heard: DeliveryCursor
  /** What all connections are told, from `join` on. Done twice it is done once. */
  readonly audience: Broadcast
  readonly join: (peer: PeerControl) => Effect.Effect<void>
  /** What it is told beside conversations, behind the answers that it has to wait for, by `TellAfter.notices`. */
  readonly notices: Notices.Notices
  /** What conversations tell, by their ids, and notices. */
  readonly holds: AnswerGate.AnswerGate
  /** Searches for files that are under way, by the client's tokens; whoever completes one ends it. */
  readonly searches: Map<string, Deferred.Deferred<void>>
}

export interface AppConnectionOptions {
  readonly server: Server["Service"]
  /** On whose behalf the client of the connection acts. */
  readonly principal: string
  readonly auth: Auth["Service"]
  /** Until the client says otherwise. */
  readonly approvals: () => ApprovalForm
  /** Likewise: whether it shows the forms of tool servers. */
  readonly forms: () => boolean
  /** The server's own part: `colloquy/1.2.3 (Linux 6.1; x86_64)`. */
  readonly userAgent: string
}

export const make = Effect.fnUntraced(function* (
  options: AppConnectionOptions,
): Effect.fn.Return<AppConnection, never, Scope.Scope> {
  const { principal, server } = options
  const scope = yield* Effect.scope
  let client: Params<typeof Initialize> | undefined
  const approvals = () => client?.capabilities?.approvals ?? options.approvals()
  const answers = (): Answers | undefined => {
    const forms = client?.capabilities?.elicitation ?? options.forms()
    if (approvals() === "none") return forms ? "forms" : undefined
    return forms ? "all" : "approvals"
  }
  const heard = (yield* server.shared(deliveryCursors))(principal)
  const holds = AnswerGate.make()
  const audience = (yield* server.shared(broadcasts))(principal)
  const notices = Notices.make(holds.gate(TellAfter.notices))
  let joined = false
  const broker = yield* QuestionBroker.make()
  return {
    scope,
    heard,
    holds,
    audience,
    notices,
    join: (peer) =>
      Effect.suspend(() => {
        if (joined) return Effect.void
        joined = true
        return audience
          .join({ auth: options.auth, notices })
          .pipe(
            Effect.andThen(Effect.forkScoped(notices.tell(peer), { startImmediately: true })),
            Effect.asVoid,
            Scope.provide(scope),
          )
      }),
    approvals,
    answers,
    searches: new Map(),
    initialize: (params) => {
      if (client !== undefined) return false
      client = params
      return true
    },
    initialized: () => client !== undefined,
    userAgent: () => {
      const info = client?.clientInfo
      return {
        userAgent:
          info === undefined
            ? options.userAgent
            : `${options.userAgent} (${info.name}; ${info.version})`,
      }
    },
    subscriptions: Subscriptions.make({
      scope,
      heard,
      audience,
      isClosing: server.isClosing,
      holds,
      questions: (conversation, peer) =>
        broker.share({ conversation, present: presentV1(conversation.id, peer, approvals) }),
      answers,
    }),
  }
})
