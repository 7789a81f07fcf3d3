/** What is told on its own waits while a request that causes it is being answered (L2): by names of what is held back. */
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"

export interface AnswerGate {
  /** Nothing of that name passes until what this gives is called; calling it again does nothing. */
  readonly hold: (name: string) => () => void
  /** Waits while somebody holds that name. */
  readonly gate: (name: string) => Effect.Effect<void>
}

interface Hold {
  count: number
  readonly open: Latch.Latch
}

export const make = (): AnswerGate => {
  const holds = new Map<string, Hold>()
  const gate: AnswerGate["gate"] = (name) =>
    Effect.suspend(() => holds.get(name)?.open.await ?? Effect.void)
  return {
    gate,
    hold: (name) => {
      const hold = holds.get(name) ?? { count: 0, open: Latch.makeUnsafe(false) }
      holds.set(name, hold)
      hold.count++
      let released = false
      return () => {
        if (released) return
        released = true
        if (--hold.count > 0) return
        holds.delete(name)
        hold.open.openUnsafe()
      }
    },
  }
}
