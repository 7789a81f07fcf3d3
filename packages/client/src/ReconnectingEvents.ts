/**
 * The events of a conversation across several connections: when a listener or a connection ends,
 * the next subscription starts behind the last event that was delivered (L4). Opens no connection
 * by itself.
 */
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type * as Stream from "effect/Stream"
import type { AppClient } from "./AppClient.ts"
import { eventStream, type EventsOptions } from "./internal/EventStream.ts"
import type { ConversationFailed, ConversationMessage } from "./internal/Subscribers.ts"

/**
 * The events of a conversation from `after` on, over the clients that `current` returns: when a
 * connection ends, `current` is run again and the events continue behind the last one delivered.
 * Fails when `current` fails, and with `ConversationFailed` when the server cannot record the
 * conversation any more. Ends when the conversation ends or is archived.
 */
export const events = <E>(
  current: Effect.Effect<AppClient, E>,
  conversationId: string,
  options: EventsOptions = {},
): Stream.Stream<ConversationMessage, E | JsonRpcError | ConnectionClosed | ConversationFailed> =>
  eventStream({ current, reconnects: true }, conversationId, options)

/** Options of `reconnecting`. */
export interface ReconnectOptions {
  /** Pause between the end of a connection and the next one. Default 1 s. */
  readonly pause?: Duration.Input
}

interface Held {
  readonly app: AppClient
  readonly scope: Scope.Closeable
}

/**
 * A client that is opened when it is first requested, and opened again when it is requested after
 * the end of its connection. All callers share it. The last one is released with the scope.
 */
export const reconnecting = <E, R>(
  open: Effect.Effect<AppClient, E, R>,
  { pause = Duration.seconds(1) }: ReconnectOptions = {},
): Effect.Effect<Effect.Effect<AppClient, E>, never, Scope.Scope | Exclude<R, Scope.Scope>> =>
  Effect.gen(function* () {
    const outer = yield* Effect.scope
    const services = yield* Effect.context<Exclude<R, Scope.Scope>>()
    const one = Semaphore.makeUnsafe(1)
    let held: Held | undefined

    const next = Effect.gen(function* () {
      if (held !== undefined) {
        yield* Scope.close(held.scope, Exit.void)
        held = undefined
        yield* Effect.sleep(pause)
      }
      const scope = yield* Scope.fork(outer)
      const app = yield* open.pipe(
        Scope.provide(scope),
        Effect.provideContext(services),
        Effect.onError(() => Scope.close(scope, Exit.void)),
      )
      held = { app, scope }
      return app
    })

    const current = one.withPermit(
      Effect.suspend(() =>
        held === undefined || held.app.isClosed() ? next : Effect.succeed(held.app),
      ),
    )
    return { current }
  }).pipe(Effect.map(({ current }) => current))
