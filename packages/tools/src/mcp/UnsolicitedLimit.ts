/**
 * Limits what a tool server may send that belongs to no call: notifications, requests, log lines, lines that are no
 * messages, its error output. A token bucket that is refilled over time; pure except for its count.
 */

/** Permits a server that logs much at its start, but not one that never stops. */
const burst = 32 * 1024 * 1024
const perSecond = 1024 * 1024
/** Added for each message, because reading a message costs more than its bytes. */
export const bytesPerMessage = 512

/** The limit in words, for the reason why a server was stopped. */
export const limit = `more than ${burst / (1024 * 1024)} MiB that belongs to no call (each message counts as its length and ${bytesPerMessage} bytes, and ${perSecond / (1024 * 1024)} MiB is added in each second)`

/** The budget of one server. */
export interface UnsolicitedLimit {
  /** Takes bytes from the budget; false once the server has sent too much. Add `bytesPerMessage` for each message. */
  readonly spend: (bytes: number, nowMs: number) => boolean
}

/** A full budget. */
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
