/** Refuses to use a chat under test in another test, or in another simulated run, than the one that opened it. */
import { SimulatedClock } from "@colloquy/simulation/SimulatedClock"
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { clockOf, isTestClock } from "./Settle.ts"

/** A chat was used where its time does not pass: it would wait for ever. */
export class WrongClock extends Schema.TaggedError<WrongClock>()("WrongClock", {
  conversationId: Schema.String,
}) {
  override get message() {
    return `the chat of conversation ${this.conversationId} is used in another test, or in another run of Agent.simulate, than the one that opened it: open it where it is used`
  }
}

const isVirtual = (clock: Clock.Clock): boolean =>
  isTestClock(clock) || clock instanceof SimulatedClock

/** The effect, which dies with `WrongClock` on another virtual clock than this one. */
export const onlyOn = <A, E, R>(
  openedOn: Clock.Clock,
  conversationId: string,
  effect: Effect.Effect<A, E, R>,
): Effect.Effect<A, E, R> =>
  Effect.flatMap(clockOf, (clock) =>
    clock !== openedOn && isVirtual(clock)
      ? Effect.die(new WrongClock({ conversationId }))
      : effect,
  )
