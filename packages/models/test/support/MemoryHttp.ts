/** `ProviderHttp` in memory: answers every request with the same bytes, each chunk after a step of the scheduler. */
import * as Effect from "effect/Effect"
import type { Exchange, ProviderHttp } from "../../src/ProviderHttp.ts"

const encoder = new TextEncoder()

/** A provider of one answer. */
export class MemoryHttp implements ProviderHttp {
  private readonly chunks: ReadonlyArray<Uint8Array>

  constructor(chunks: ReadonlyArray<string>) {
    this.chunks = chunks.map((chunk) => encoder.encode(chunk))
  }

  readonly post: ProviderHttp["post"] = () =>
    Effect.sync((): Exchange => {
      let at = 0
      return {
        head: Effect.as(Effect.yieldNow, { status: 200, headers: {} }),
        read: Effect.suspend(() => {
          const chunk = this.chunks[at++]
          return chunk === undefined
            ? Effect.undefined
            : Effect.as(Effect.yieldNow, [chunk] as const)
        }),
        isReady: () => at >= this.chunks.length,
        isReceived: () => at >= this.chunks.length,
        close: Effect.void,
      }
    })
}
