/** The texts between the servers of one test, which a test can hold back. */
import type { Broadcasts } from "@colloquy/core/Broadcasts"
import * as Effect from "effect/Effect"

type Listener = Parameters<Broadcasts["watch"]>[0]

interface Sent {
  readonly deliver: () => void
  readonly text: string
}

/** See the header. Each `join` makes the broadcasts of one more server. */
export class Bus {
  /** True: what is sent waits in `sent`. */
  holding = false
  readonly sent: Array<Sent> = []
  private readonly listeners = new Map<Broadcasts, Listener>()

  readonly join = (): Broadcasts => {
    const own: Broadcasts = {
      send: (owner, text) => {
        const deliver = () => {
          for (const [one, listener] of this.listeners) if (one !== own) listener(owner, text)
        }
        if (this.holding) this.sent.push({ deliver, text })
        else deliver()
      },
      watch: (listener) => Effect.sync(() => void this.listeners.set(own, listener)),
    }
    return own
  }

  /** Delivers what was held back, the last first if wished. */
  release({ reversed = false } = {}): void {
    this.holding = false
    const held = this.sent.splice(0)
    for (const { deliver } of reversed ? held.toReversed() : held) deliver()
  }
}
