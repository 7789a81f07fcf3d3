/**
 * The events of a conversation across several connections: when a listener or a connection ends,
 * the next subscription starts behind the last event that was delivered (L4). Opens no connection
 * by itself.
 */
import { ConnectionClosed } from "@colloquy/protocol/Connection"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import type { AppClient, EventsOptions, Told } from "./AppClient.ts"
import { ConversationFailed, Subscriber } from "./internal/Subscribers.ts"

interface Source<E> {
  /** The client to subscribe with now. */
  readonly current: Effect.Effect<AppClient, E>
  /** True when another connection may follow the end of this one. */
  readonly reopens: boolean
}

const follow = <E>(
  { current, reopens }: Source<E>,
  conversationId: string,
  { after = -1, raw = false }: EventsOptions,
): Stream.Stream<Told, E | JsonRpcError | ConnectionClosed | ConversationFailed> => {
  const begin = Effect.gen(function* () {
    const subscriber = new Subscriber(after)
    let app: AppClient | undefined
    yield* Effect.addFinalizer(() => {
      subscriber.over = true
      const id = subscriber.subscriptionId
      return app === undefined || id === undefined ? Effect.void : app.unsubscribe(id)
    })

    const subscribe: Effect.Effect<void, E | JsonRpcError | ConnectionClosed> = Effect.gen(
      function* () {
        app = yield* current
        yield* app.subscribe(conversationId, subscriber, raw)
      },
    ).pipe(
      Effect.catchIf(
        (error) => reopens && error instanceof ConnectionClosed,
        // Not subscribed: the next pull tries again over the next connection.
        () => app?.closed ?? Effect.void,
      ),
    )

    const pull: Effect.Effect<
      readonly [Told, ...ReadonlyArray<Told>],
      E | JsonRpcError | ConnectionClosed | ConversationFailed | Cause.Done
    > = Effect.suspend(() => {
      const [first, ...rest] = subscriber.take()
      if (first !== undefined) return Effect.succeed([first, ...rest] as const)
      const { closed, cursor, failure } = subscriber
      if (failure !== undefined) {
        return Effect.fail(new ConversationFailed({ reason: failure, next: cursor + 1 }))
      }
      if (closed) return Cause.done()
      return Effect.andThen(
        subscriber.subscriptionId === undefined ? subscribe : subscriber.wait,
        pull,
      )
    })
    return Stream.fromPull(Effect.succeed(pull))
  })
  return Stream.unwrap(begin)
}

/** The events over one client, until its connection ends. */
export const over = (
  app: AppClient,
  conversationId: string,
  options: EventsOptions = {},
): Stream.Stream<Told, JsonRpcError | ConnectionClosed | ConversationFailed> =>
  follow({ current: Effect.succeed(app), reopens: false }, conversationId, options)

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
): Stream.Stream<Told, E | JsonRpcError | ConnectionClosed | ConversationFailed> =>
  follow({ current, reopens: true }, conversationId, options)

/** Options of `reconnecting`. */
export interface ReopenOptions {
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
export const reopening = <E, R>(
  open: Effect.Effect<AppClient, E, R>,
  { pause = Duration.seconds(1) }: ReopenOptions = {},
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
