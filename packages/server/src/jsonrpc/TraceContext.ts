/**
 * The trace that a request belongs to, as its client names it by `traceparent` (W3C Trace Context): in the header of the
 * HTTP request that opened a connection, or in `_meta` of a request of MCP. What the request causes has the client's span as
 * its parent. Costs a request that names none one comparison.
 */
import * as Effect from "effect/Effect"
import * as Tracer from "effect/Tracer"

/** Version, trace id, id of the client's span, flags; the next version may append members. */
const form =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/

/** The span of the client. Undefined for a text that is not valid: it is ignored, as the specification demands. */
export const callerOf = (traceparent: unknown): Tracer.ExternalSpan | undefined => {
  if (typeof traceparent !== "string" || traceparent.length > 512) return undefined
  const [, traceId, spanId, flags] = form.exec(traceparent) ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  return Tracer.externalSpan({ traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 })
}

/** Runs the effect, and everything that it forks, within the span of the client; unchanged if there is none. */
export const withCaller =
  (traceparent: unknown) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
    const caller = traceparent === undefined ? undefined : callerOf(traceparent)
    return caller === undefined ? effect : Effect.provideService(effect, Tracer.ParentSpan, caller)
  }
