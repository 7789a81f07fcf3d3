/**
 * Routes the questions of one tool server to the conversation whose call is running. When calls of several conversations
 * run, the origin of a question is unknown, and it is cancelled. A question ends with the last call that it can belong to
 * (L14). Time limits of calls are suspended while a question is pending.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as PausableTimeout from "./PausableTimeout.ts"
import type { AskPerson } from "./ServerRequests.ts"
import type { Ask } from "./ToolConnection.ts"

/** The running calls of one conversation. */
interface Running {
  calls: number
  /** Completed when the last of these calls has ended. */
  readonly over: Deferred.Deferred<void>
}

/** Routes the questions of one server. */
export interface QuestionRouter {
  /** Puts a question of the server to a person, or cancels it. */
  readonly ask: AskPerson
  /** Runs a call; its questions are put through `ask`. */
  readonly during: (ask: Ask) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Time limits that are suspended while a question is pending. */
  readonly clock: PausableTimeout.Pauses
}

const cancel = { action: "cancel" } as const

/** @param name of the server as configured; part of every question */
export const make = (name: string): QuestionRouter => {
  const running = new Map<Ask, Running>()
  const clock = PausableTimeout.makePauses()
  const enter = (ask: Ask) =>
    Effect.sync(() => {
      const entry = running.get(ask) ?? { calls: 0, over: Deferred.makeUnsafe<void>() }
      entry.calls++
      running.set(ask, entry)
      return entry
    })
  const leave = (ask: Ask, entry: Running) =>
    Effect.suspend(() => {
      if (--entry.calls > 0) return Effect.void
      running.delete(ask)
      return Effect.asVoid(Deferred.succeed(entry.over, undefined))
    })
  return {
    clock,
    ask: (question) =>
      Effect.suspend(() => {
        const [only, ...others] = running
        if (only === undefined || others.length > 0) return Effect.succeed(cancel)
        const [ask, { over }] = only
        return Effect.raceFirst(
          clock.pause(ask({ server: name, ...question })),
          Effect.as(Deferred.await(over), cancel),
        )
      }),
    during: (ask) => (effect) =>
      Effect.acquireUseRelease(
        enter(ask),
        () => effect,
        (entry) => leave(ask, entry),
      ),
  }
}
