/**
 * The moves of conversations between memory and store that run now. Each runs in a fiber that cannot be interrupted; whoever
 * needs the conversation meanwhile waits for it. Never decides when a conversation moves.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import type { ConversationUnavailable } from "../../ConversationErrors.ts"
import type { Entry, LoadedConversation, SettledPlacement } from "../Entry.ts"
import { hasSucceeded } from "./HasSucceeded.ts"

/** The transitions of one manager. */
export class Transitions {
  private readonly running = new Set<Entry>()
  /** Scope of the fibers that carry them out. */
  private readonly scope: Scope.Closeable

  private constructor(scope: Scope.Closeable) {
    this.scope = scope
  }

  /** None runs yet. */
  static readonly make: Effect.Effect<Transitions> = Effect.map(
    Scope.make(),
    (scope) => new Transitions(scope),
  )

  /**
   * Starts a transition at once, in a fiber that cannot be interrupted, and waits for it. After a failure the placement
   * is what it was before.
   */
  start(
    entry: Entry,
    to: "Stored" | "Loaded",
    run: Effect.Effect<void, ConversationUnavailable>,
  ): Effect.Effect<void, ConversationUnavailable> {
    const before = entry.placement
    const done = Deferred.makeUnsafe<void, ConversationUnavailable>()
    entry.placement = { _tag: "Transition", to, done }
    this.running.add(entry)
    return run.pipe(
      Effect.onExit((exit) => {
        const { placement } = entry
        if (placement._tag === "Transition" && placement.done === done) entry.placement = before
        this.running.delete(entry)
        return Deferred.done(done, exit)
      }),
      Effect.forkIn(this.scope, { startImmediately: true, uninterruptible: true }),
      Effect.andThen(Effect.interruptible(Deferred.await(done))),
    )
  }

  /** Resolves with the placement of the conversation, after a transition that runs. Starts none. */
  settled(entry: Entry): Effect.Effect<SettledPlacement> {
    return Effect.suspend(() =>
      entry.placement._tag === "Transition"
        ? Effect.andThen(hasSucceeded(Deferred.await(entry.placement.done)), this.settled(entry))
        : Effect.succeed(entry.placement),
    )
  }

  /** `close` waits for the fiber of a suspended conversation: a turn that did not stop in time may still run in it. */
  awaitFiber({ fiber }: LoadedConversation): Effect.Effect<void> {
    return Effect.asVoid(Effect.forkIn(Fiber.await(fiber), this.scope, { uninterruptible: true }))
  }

  /** Resolves when the transitions that run have ended, and the fibers of suspended conversations with them. */
  get close(): Effect.Effect<void> {
    return Effect.suspend(() =>
      Effect.forEach([...this.running], (entry) => this.settled(entry), { discard: true }),
    ).pipe(Effect.andThen(Scope.close(this.scope, Exit.void)))
  }
}
