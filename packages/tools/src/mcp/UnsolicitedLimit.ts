/**
 * How much a server may send that belongs to no call: notifications, requests, log lines, lines that are no message,
 * its error output. A bucket that fills with time; pure but for what it counts.
 */

/** A server that logs much at its start gets by; one that never stops does not. */
const burst = 32 * 1024 * 1024
const perSecond = 1024 * 1024
/** Reading a message costs more than its bytes. */
export const bytesPerMessage = 512

/** The limit, for the reason why a server was stopped. */
export const limit = `more than ${burst / (1024 * 1024)} MiB that belongs to no call (each message counts as its length and ${bytesPerMessage} bytes, and ${perSecond / (1024 * 1024)} MiB is added in each second)`

export interface UnsolicitedLimit {
  /** False once the server has sent too much. Add `bytesPerMessage` for each message. */
  readonly spend: (bytes: number, nowMs: number) => boolean
}

export const make = (nowMs: number): UnsolicitedLimit => {
  let left = burst
  let at = nowMs
  return {
    spend: (bytes, now) => {
      left = Math.min(burst, left + ((now - at) / 1_000) * perSecond) - bytes
      at = now
      return left >= 0
    },
  }
}
