/** A duration in the shape that events have for it. */
import * as Schema from "effect/Schema"

/** `secs` whole seconds and `nanos` in [0, 1e9). */
export const WireDuration = Schema.Struct({ secs: Schema.Int, nanos: Schema.Int })
/** A decoded `WireDuration`. */
export type WireDuration = typeof WireDuration.Type

/** So many milliseconds, of which fractions count. */
export const wireDuration = (millis: number): WireDuration => {
  const nanos = Math.round(millis * 1e6)
  return { secs: Math.floor(nanos / 1e9), nanos: nanos % 1e9 }
}
