/**
 * Owns the state of one connection of the app-server dialect: what its client declared in `initialize`, its listeners,
 * the questions that are sent to it, and the file searches that can be cancelled. Ends with the scope in which it was
 * created.
 */
import type { Answers } from "@colloquy/core/approvals/Approval"
import type { ResultOf, Params } from "@colloquy/protocol/Method"
import type { ApprovalForm, ServerIdentity } from "@colloquy/protocol/app/Initialize"
import type { Initialize } from "@colloquy/protocol/app/Session"
import type * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import type { PeerControl } from "../jsonrpc/Caller.ts"
import * as QuestionBroker from "../questions/QuestionBroker.ts"
import type { Server } from "../Server.ts"
import type { Auth } from "./ports/AuthPort.ts"
import { type Broadcast, broadcasts } from "./subscriptions/Broadcast.ts"
import { type DeliveryCursor, deliveryCursors } from "./subscriptions/DeliveryCursor.ts"
import * as ConnectionNotices from "./subscriptions/ConnectionNotices.ts"
import { Subscriptions } from "./subscriptions/Subscriptions.ts"
import { v1Presenter } from "./subscriptions/V1Presenter.ts"
import { wantedOnly } from "./WantedNotifications.ts"
import { userAgentText } from "./UserAgentText.ts"

/** State of one connection, for the handlers of its requests. */
export interface AppConnection {
  /** Scope of the connection: holds the work that continues after the response to its request. */
  readonly scope: Scope.Scope
  /** Stores what the client declares about itself. Returns false, and changes nothing, if it was called before. */
  readonly initialize: (params: Params<typeof Initialize>) => boolean
  /** True once `initialize` was called. */
  readonly initialized: () => boolean
  /** What the client declared in `initialize`; undefined before. */
  readonly capabilities: () => Params<typeof Initialize>["capabilities"]
  /**
   * Whether the client uses threads and turns: it has called `useThreads`, or declared something that only clients of that
   * version declare. Methods with the same name in both versions are then served as in that one.
   */
  readonly usesThreads: () => boolean
  /** The client has sent a request that only the version of threads and turns has. */
  readonly useThreads: () => void
  /** Which questions the client can answer; undefined if none. */
  readonly answers: () => Answers | undefined
  /** The server's user agent, followed by the name of the client once it is known, and what else identifies the server. */
  readonly userAgent: () => ResultOf<typeof Initialize>
  /** The listeners of the connection. */
  readonly subscriptions: Subscriptions
  /** The questions that are put to the client, in any dialect of the connection. */
  readonly broker: QuestionBroker.QuestionBroker
  /** Which events were delivered to any listener of this dialect. */
  readonly cursor: DeliveryCursor
  /** The notifications that all connections get. */
  readonly broadcast: Broadcast
  /** Adds the connection to `broadcast` and starts to send `notices`. A second call does nothing. */
  readonly join: (peer: PeerControl) => Effect.Effect<void>
  /** The notifications of this connection that belong to no conversation. */
  readonly notices: ConnectionNotices.ConnectionNotices
  /** The running searches for files, by the client's tokens. Completing the deferred ends the search. */
  readonly searches: Map<string, Deferred.Deferred<void>>
}

/** What the state of a connection needs. */
export interface AppConnectionOptions {
  readonly server: Server["Service"]
  /** On whose behalf the client of the connection acts. */
  readonly principal: string
  readonly auth: Auth["Service"]
  /** Form of approvals for a client that declares none in `initialize`. */
  readonly approvals: () => ApprovalForm
  /** Whether the client shows forms of tool servers, if it does not declare it in `initialize`. */
  readonly forms: () => boolean
  /** The server's part of the user agent: `colloquy/1.2.3 (Linux 6.1; x86_64)`. */
  readonly userAgent: string
  /** What the response to `initialize` says besides. */
  readonly identity?: Omit<ServerIdentity, "userAgent">
}

/** What the client declares about itself, with the defaults of the connection for what it does not declare. */
class ClientFacts {
  private client: Params<typeof Initialize> | undefined
  private readonly options: AppConnectionOptions

  constructor(options: AppConnectionOptions) {
    this.options = options
  }

  get capabilities(): Params<typeof Initialize>["capabilities"] {
    return this.client?.capabilities
  }

  get initialized(): boolean {
    return this.client !== undefined
  }

  initialize(params: Params<typeof Initialize>): boolean {
    if (this.client !== undefined) return false
    this.client = params
    return true
  }

  /** See `AppConnection.usesThreads`. */
  hasUsedThreads = false

  get usesThreads(): boolean {
    const declared = this.capabilities
    return (
      this.hasUsedThreads ||
      typeof declared?.experimentalApi === "boolean" ||
      Array.isArray(declared?.optOutNotificationMethods)
    )
  }

  get approvals(): ApprovalForm {
    return this.client?.capabilities?.approvals ?? this.options.approvals()
  }

  get answers(): Answers | undefined {
    const forms = this.client?.capabilities?.elicitation ?? this.options.forms()
    if (this.approvals === "none") return forms ? "forms" : undefined
    return forms ? "all" : "approvals"
  }

  get userAgent(): string {
    return userAgentText(this.options.userAgent, this.client?.clientInfo)
  }
}

/** Creates the state of one connection. It ends with the current scope. */
export const make = Effect.fnUntraced(function* (
  options: AppConnectionOptions,
): Effect.fn.Return<AppConnection, never, Scope.Scope> {
  const { auth, principal, server } = options
  const scope = yield* Effect.scope
  const client = new ClientFacts(options)
  const answers = () => client.answers
  const cursor = (yield* server.shared(deliveryCursors))(principal)
  const broadcast = (yield* server.shared(broadcasts))(principal)
  const notices = ConnectionNotices.make()
  const presenter = v1Presenter(() => client.approvals)
  const broker = yield* QuestionBroker.make()
  let joined = false
  const join = (peer: PeerControl) =>
    Effect.suspend(() => {
      if (joined) return Effect.void
      joined = true
      return broadcast.join({ auth, notices, usesThreads: () => client.usesThreads }).pipe(
        Effect.andThen(
          Effect.forkScoped(notices.deliver(wantedOnly(peer, () => client.capabilities)), {
            startImmediately: true,
          }),
        ),
        Effect.asVoid,
        Scope.provide(scope),
      )
    })
  return {
    scope,
    initialize: (params) => client.initialize(params),
    initialized: () => client.initialized,
    capabilities: () => client.capabilities,
    usesThreads: () => client.usesThreads,
    useThreads: () => {
      client.hasUsedThreads = true
    },
    broker,
    answers,
    userAgent: () => ({ userAgent: client.userAgent, ...options.identity }),
    subscriptions: new Subscriptions({
      scope,
      presenter,
      broker,
      answers,
      cursor,
      broadcast,
      isClosing: server.isClosing,
    }),
    cursor,
    broadcast,
    join,
    notices,
    searches: new Map(),
  }
})
