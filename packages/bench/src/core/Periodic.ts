/**
 * A day of a server in virtual time: some conversations, each of which gets a message at regular intervals, is evicted
 * after its turn and is loaded again for the next one.
 */
import { ConversationManager } from "@colloquy/core/ConversationManager"
import * as Conversations from "@colloquy/core/manager/Conversations"
import * as NodeStore from "@colloquy/store/node/NodeStore"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { home } from "../store/Setting.ts"
import { managerOver } from "./Sequential.ts"
import { heapBytes, isTurnEnd, readUntil, say, settings } from "./Setting.ts"

/** Sizes of the measurement. */
export interface PeriodicSizes {
  readonly conversations: number
  /** Hours of virtual time. */
  readonly hours: number
}

/** The result. */
export interface PeriodicFigure {
  /** Turns of all conversations in the second half. */
  readonly turns: number
  /** Turns per second of real time. */
  readonly perSecond: number
  /** Growth of the heap per turn in bytes in the second half, after garbage collection. */
  readonly bytesEachTurn: number
}

/** A conversation gets a message as often as that. Far longer than the idle time, so that each is loaded again. */
const minutesBetween = 5
const roundsPerHour = 60 / minutesBetween

const measure = Effect.fnUntraced(function* ({ conversations, hours }: PeriodicSizes) {
  const manager = yield* ConversationManager
  const ids: Array<string> = []
  for (let n = 0; n < conversations; n++) ids.push((yield* manager.create(settings())).id)
  const round = Effect.andThen(
    Effect.forEach(
      ids,
      (id) =>
        Effect.gen(function* () {
          const conversation = yield* manager.get(id)
          const listener = yield* conversation.attach()
          yield* say(conversation)
          yield* readUntil(listener, isTurnEnd)
        }).pipe(Effect.scoped),
      { discard: true },
    ),
    TestClock.adjust(`${minutesBetween} minutes`),
  )
  const rounds = (count: number) => Effect.repeat(round, { times: count - 1 })
  // In the first half most of the growth is compiled code.
  const half = Math.ceil((hours * roundsPerHour) / 2)
  yield* rounds(half)
  const before = yield* heapBytes
  const startedAtMs = performance.now()
  yield* rounds(half)
  const seconds = (performance.now() - startedAtMs) / 1000
  const turns = half * conversations
  const bytesEachTurn = ((yield* heapBytes) - before) / turns
  return { turns, perSecond: turns / seconds, bytesEachTurn }
})

/** Measures so many hours. */
export const periodic = (sizes: PeriodicSizes): Effect.Effect<PeriodicFigure> =>
  Effect.gen(function* () {
    const store = NodeStore.layer({ home: yield* home })
    return yield* Effect.provide(
      measure(sizes),
      managerOver(store, Conversations.defaultIdleTimeToLive),
    )
  }).pipe(Effect.scoped, Effect.provide(TestClock.layer()), Effect.orDie)
