/**
 * The end of a manager: all conversations end at the same time, each within its bound (L8). Nothing is created, found or
 * changed from its start on.
 */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { ManagerClosed } from "../../ConversationErrors.ts"
import { ended } from "../Entry.ts"
import type { LoadedConversations } from "../loaded/LoadedConversations.ts"
import type { Entries } from "./Entries.ts"

/** Longest wait for the end of all conversations: ten seconds for a store, one for a turn, its kill grace, some room. */
const shutdownTimeout = Duration.seconds(12)

/** The end of one manager, which has not begun at first. */
export class Shutdown {
  private readonly entries: Entries
  private readonly inMemory: LoadedConversations
  /** Present from the start of the shutdown on; completed at its end. */
  private closed: Deferred.Deferred<void> | undefined

  constructor(entries: Entries, inMemory: LoadedConversations) {
    this.entries = entries
    this.inMemory = inMemory
  }

  /** True from the start of the shutdown on. */
  get hasStarted(): boolean {
    return this.closed !== undefined
  }

  /** Fails from the start of the shutdown on. */
  get checkOpen(): Effect.Effect<void, ManagerClosed> {
    return Effect.suspend(() => (this.hasStarted ? Effect.fail(new ManagerClosed()) : Effect.void))
  }

  /** Ends all conversations. Resolves when that is done, or after the time limit. */
  get run(): Effect.Effect<void> {
    return Effect.flatMap(Effect.uninterruptible(this.start()), (done) =>
      Effect.interruptible(Deferred.await(done)).pipe(
        Effect.timeoutOrElse({
          duration: shutdownTimeout,
          orElse: () =>
            Effect.logWarning(
              `conversation abandoned: a tool did not stop within ${Duration.format(shutdownTimeout)}`,
            ),
        }),
      ),
    )
  }

  /** Starts the shutdown once. Resolves at once with what completes at its end, for every caller the same. */
  private start(): Effect.Effect<Deferred.Deferred<void>> {
    return Effect.suspend(() => {
      if (this.closed !== undefined) return Effect.succeed(this.closed)
      const done = Deferred.makeUnsafe<void>()
      this.closed = done
      this.inMemory.halt()
      const all = [...this.entries.values()]
      const found = all.filter(({ isHidden, isUnrecorded }) => !isHidden || isUnrecorded)
      for (const { id } of found) this.entries.delete(id)
      const releasing = Effect.forEach(
        found,
        (entry) => this.inMemory.release(entry, { quietly: true }),
        { concurrency: "unbounded", discard: true },
      )
      // Those that are being removed or archived are released already, and may still run (L8).
      const others = Effect.forEach(all, ended, { discard: true })
      return Effect.andThen(releasing, others).pipe(
        Effect.andThen(this.inMemory.close),
        Effect.onExit((exit) => Deferred.done(done, exit)),
        Effect.forkDetach({ startImmediately: true, uninterruptible: true }),
        Effect.as(done),
      )
    })
  }
}
