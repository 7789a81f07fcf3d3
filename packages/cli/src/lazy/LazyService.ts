/**
 * Services whose implementation is loaded at their first use. The response to `initialize` needs none of them, and the
 * client waits for it, so none of their modules is evaluated before.
 *
 *     declared ── first use ──► loading ── built ──► every member forwards to the service
 *                                  └────── failed ─► every use fails with the same defect
 *
 * Loading happens once, even if the caller of the first use is interrupted. What it acquires is released with the layer.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

/** How a member is forwarded, by its type: a function that returns an effect or a stream, or an effect. */
type Forwarding<M> =
  M extends Effect.Effect<unknown, unknown, unknown>
    ? "value"
    : M extends (...args: never) => Effect.Effect<unknown, unknown, unknown>
      ? "effect"
      : M extends (...args: never) => Stream.Stream<unknown, unknown, unknown>
        ? "stream"
        : never

/** A member that is written out, because forwarding it needs more than calling it. */
type Written<S, M> = (loaded: Effect.Effect<S>) => M

/** Names every member of a service. The compiler rejects a missing member and a wrong kind; an optional one is written out. */
export type Members<S> = {
  readonly [K in keyof S]-?:
    | (undefined extends S[K] ? never : Forwarding<S[K]>)
    | Written<S, NonNullable<S[K]>>
}

type Call = (...args: ReadonlyArray<unknown>) => unknown

/** A service that may be loaded already: from then on, a use costs little more than a call of the service itself. */
class Loading<S> {
  readonly loaded: Effect.Effect<S>
  service: S | undefined

  constructor(loaded: Effect.Effect<S>) {
    this.loaded = Effect.map(loaded, (service) => {
      this.service = service
      return service
    })
  }
}

const memberOf = <S>(
  loading: Loading<S>,
  name: string,
  forwarding: "effect" | "stream" | "value" | Written<S, unknown>,
): unknown => {
  if (typeof forwarding === "function") return forwarding(loading.loaded)
  const memberIn = (service: S): unknown => (service as Readonly<Record<string, unknown>>)[name]
  const callIn = (service: S, args: ReadonlyArray<unknown>): unknown =>
    Reflect.apply(memberIn(service) as Call, service, args)
  /** Decides at every run whether the service is loaded. */
  const use = (run: (service: S) => Effect.Effect<unknown, unknown>) =>
    Effect.suspend(() =>
      loading.service === undefined ? Effect.flatMap(loading.loaded, run) : run(loading.service),
    )
  switch (forwarding) {
    case "value":
      return use((service) => memberIn(service) as Effect.Effect<unknown, unknown>)
    case "effect":
      return (...args: ReadonlyArray<unknown>) =>
        loading.service === undefined
          ? use((service) => callIn(service, args) as Effect.Effect<unknown>)
          : callIn(loading.service, args)
    case "stream":
      return (...args: ReadonlyArray<unknown>) =>
        loading.service === undefined
          ? Stream.unwrap(
              Effect.map(
                loading.loaded,
                (service) => callIn(service, args) as Stream.Stream<unknown>,
              ),
            )
          : (callIn(loading.service, args) as Stream.Stream<unknown>)
  }
}

/** A service that forwards every member to the one that `loaded` resolves to. */
export const forward = <S extends object>(loaded: Effect.Effect<S>, members: Members<S>): S => {
  const loading = new Loading(loaded)
  return Object.fromEntries(
    Object.entries<"effect" | "stream" | "value" | Written<S, unknown>>(members).map(
      ([name, forwarding]) => [name, memberOf(loading, name, forwarding)],
    ),
  ) as S
}

/** Builds the service of a loaded layer at the first use of the resulting effect, in the scope of the caller. */
const loadOnce = <I, S, R>(
  tag: Context.Key<I, S>,
  load: () => Promise<Layer.Layer<I, never, R>>,
): Effect.Effect<Effect.Effect<S>, never, R | Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const services = yield* Effect.context<R>()
    const loaded = yield* Effect.cached(
      Effect.promise(load).pipe(
        Effect.flatMap((layer) => Layer.buildWithScope(layer, scope)),
        Effect.map((built) => Context.get(built, tag)),
        Effect.provideContext(services),
      ),
    )
    // A cached effect starts anew when every caller left before its end: no caller may leave while it loads.
    return Effect.uninterruptible(loaded)
  })

/**
 * The layer of a service that is loaded at its first use. `load` imports the modules and returns the layer to build; what
 * that layer requires is taken from the context of this one.
 */
export const layer = <I, S extends object, R>(
  tag: Context.Key<I, S>,
  load: () => Promise<Layer.Layer<I, never, R>>,
  members: Members<S>,
): Layer.Layer<I, never, R> =>
  Layer.effect(
    tag,
    Effect.map(loadOnce(tag, load), (loaded) => forward(loaded, members)),
  )
