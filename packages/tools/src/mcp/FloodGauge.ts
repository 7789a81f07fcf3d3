/**
 * How much a server may say that nobody asked for: notifications, log lines, what is no message at all. A bucket that
 * fills with time; pure but for what it counts.
 */

/** A server that logs much at its start gets by; one that never stops does not. */
const burst = 32 * 1024 * 1024
const perSecond = 1024 * 1024
/** Reading a message costs more than its bytes. */
const perMessage = 512

export interface FloodGauge {
  /** False once the server has said too much. */
  readonly spend: (bytes: number, nowMs: number) => boolean
}

export const make = (nowMs: number): FloodGauge => {
  let left = burst
  let at = nowMs
  return {
    spend: (bytes, now) => {
      left = Math.min(burst, left + ((now - at) / 1_000) * perSecond) - bytes - perMessage
      at = now
      return left >= 0
    },
  }
}
