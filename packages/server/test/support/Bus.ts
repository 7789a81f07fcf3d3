/** The texts between the servers of one test, which a test can hold back. */
import type { Broadcasts } from "@colloquy/core/Broadcasts"
import * as Effect from "effect/Effect"

type Listener = Parameters<Broadcasts["watch"]>[0]

/** See the header. Each `join` makes the broadcasts of one more server. */
export class Bus {
  private readonly listeners = new Map<Broadcasts, Listener>()
  private held: Array<() => void> | undefined

  readonly join = (): Broadcasts => {
    const own: Broadcasts = {
      send: (owner, text) => {
        const deliver = () => {
          for (const [one, listener] of this.listeners) if (one !== own) listener(owner, text)
        }
        if (this.held === undefined) deliver()
        else this.held.push(deliver)
      },
      watch: (listener) => Effect.sync(() => void this.listeners.set(own, listener)),
    }
    return own
  }

  /** What is sent from now on is held back. Returns how many texts are. */
  hold(): number {
    this.held ??= []
    return this.held.length
  }

  /** Delivers what was held back: what was sent after the first `overtaken` texts before these. */
  release(overtaken: number): void {
    const held = this.held ?? []
    this.held = undefined
    for (const deliver of [...held.slice(overtaken), ...held.slice(0, overtaken)]) deliver()
  }
}
