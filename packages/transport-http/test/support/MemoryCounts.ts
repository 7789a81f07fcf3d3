/** Requests counted over several servers in one process, by a clock that is ahead of theirs. */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { CountsUnavailable, type RequestCounts } from "../../src/guard/RequestCounts.ts"

export class MemoryCounts implements RequestCounts {
  private readonly counts = new Map<string, number>()
  private readonly aheadMs: number
  /** Each call of `add` that was carried out. */
  readonly added: Array<readonly [principal: string, requests: number]> = []
  /** Fails all calls, or lets them wait for ever. */
  fault: "refused" | "silent" | undefined
  /** What calls wait for before they are carried out. */
  gate: Deferred.Deferred<void> | undefined

  constructor(aheadMs = 0) {
    this.aheadMs = aheadMs
  }

  readonly add: RequestCounts["add"] = (principal, requests, length) =>
    Effect.gen({ self: this }, function* () {
      if (this.fault === "silent") return yield* Effect.never
      if (this.fault === "refused") return yield* new CountsUnavailable({ message: "refused" })
      if (this.gate !== undefined) yield* Deferred.await(this.gate)
      const atMs = (yield* Clock.currentTimeMillis) + this.aheadMs
      const window = Math.floor(atMs / Duration.toMillis(length))
      const key = `${principal} ${window}`
      const counted = (this.counts.get(key) ?? 0) + requests
      this.counts.set(key, counted)
      this.added.push([principal, requests])
      return { requests: counted, window, atMs }
    })
}
