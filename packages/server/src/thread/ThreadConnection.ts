/** State of one connection that uses this dialect: its subscriptions and the requests that were sent to its client. */
import type { Conversation } from "@colloquy/core/Conversation"
import type { AttachError } from "@colloquy/core/ConversationErrors"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import type { AppConnection } from "../app/AppConnection.ts"
import { Subscriptions } from "../app/subscriptions/Subscriptions.ts"
import { wantedOnly } from "../app/WantedNotifications.ts"
import type { PeerControl, RequestCaller } from "../jsonrpc/Caller.ts"
import type { Server } from "../Server.ts"
import { ThreadPresenter } from "./subscriptions/ThreadPresenter.ts"
import {
  type ThreadMember,
  threadRegistries,
  type ThreadRegistry,
} from "./subscriptions/ThreadRegistry.ts"
import type { ThreadHistory } from "./ThreadHistory.ts"
import type { SentRequests } from "./ThreadQuestions.ts"

/** See the header. */
export interface ThreadConnection {
  readonly app: AppConnection
  readonly registry: ThreadRegistry
  /** This connection among those of the registry. */
  readonly member: ThreadMember
  /** The client uses this dialect from now on, so that it is told what all its clients are told. */
  readonly join: Effect.Effect<void>
  /**
   * Whether the client uses this dialect: it has sent a request that only this dialect has, or declared something that only
   * its clients declare. Methods with the same name in v1 are then served as in this dialect.
   */
  readonly isUsed: () => boolean
  /** Whether the client has declared `experimentalApi`. */
  readonly isExperimental: () => boolean
  /** The peer without the notifications that its client does not want. */
  readonly peerOf: (peer: PeerControl) => PeerControl
  /**
   * Subscribes to a thread behind that history; the subscription starts once the response was accepted, after `first`. Does
   * nothing but `first` for a thread that is subscribed already.
   */
  readonly subscribe: (
    thread: {
      readonly conversation: Conversation
      readonly history: ThreadHistory
      readonly raw?: boolean
    },
    caller: Pick<RequestCaller, "afterAnswer" | "hold" | "peer">,
    first?: Effect.Effect<void>,
  ) => Effect.Effect<void, AttachError>
  /** Ends the subscription. False if there is none. */
  readonly unsubscribe: (threadId: string) => Effect.Effect<boolean>
  readonly isSubscribed: (threadId: string) => boolean
}

/** Members that clients of v1 do not declare. */
const declaresV2 = (capabilities: ReturnType<AppConnection["capabilities"]>): boolean =>
  typeof capabilities?.experimentalApi === "boolean" ||
  Array.isArray(capabilities?.optOutNotificationMethods)

/** What the state of a connection needs. */
export interface ThreadConnectionOptions {
  readonly server: Server["Service"]
  readonly principal: string
  readonly app: AppConnection
  readonly sent: SentRequests
}

/** Creates the state of one connection. It ends with the current scope. */
export const make = Effect.fnUntraced(function* ({
  app,
  principal,
  sent,
  server,
}: ThreadConnectionOptions): Effect.fn.Return<ThreadConnection, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const registry = (yield* server.shared(threadRegistries))(principal)
  /** Ids of the subscriptions, by thread. */
  const own = new Map<string, string>()
  const presenter = new ThreadPresenter({ sent, onStatus: registry.statusChanged })
  const subscriptions = new Subscriptions({
    scope,
    presenter,
    broker: app.broker,
    // Every client of this dialect is asked; one that cannot answer responds with an error, which denies.
    answers: () => "all",
    cursor: app.cursor,
    broadcast: app.broadcast,
    isClosing: server.isClosing,
  })
  const isSubscribed = (threadId: string) => own.has(threadId)
  const member: ThreadMember = { notices: app.notices, follows: isSubscribed }
  let joined = false
  const peerOf = (peer: PeerControl) => wantedOnly(peer, app.capabilities)
  return {
    app,
    registry,
    member,
    join: Effect.suspend(() => {
      if (joined) return Effect.void
      joined = true
      return Scope.provide(registry.join(member), scope)
    }),
    isUsed: () => joined || declaresV2(app.capabilities()),
    isExperimental: () => app.capabilities()?.experimentalApi === true,
    peerOf,
    isSubscribed,
    subscribe: ({ conversation, history, raw = false }, { afterAnswer, hold, peer }, first) =>
      Effect.gen(function* () {
        const threadId = conversation.id
        const before = first ?? Effect.void
        if (own.has(threadId)) return afterAnswer(before)
        hold(threadId)
        const { abandon, id, start } = yield* subscriptions.add({
          conversation,
          peer: peerOf(peer),
          raw,
          after: history.next - 1,
        })
        own.set(threadId, id)
        presenter.prime(threadId, history.fold, { raw })
        afterAnswer(Effect.andThen(before, start), (wasSent) => {
          if (!wasSent) own.delete(threadId)
          abandon()
        })
      }).pipe(Effect.uninterruptible),
    unsubscribe: (threadId) =>
      Effect.suspend(() => {
        const id = own.get(threadId)
        if (id === undefined) return Effect.succeed(false)
        own.delete(threadId)
        presenter.forget(threadId)
        return subscriptions.remove(id)
      }),
  }
})
