/**
 * The turns whose stateless call has ended with a question. Keeps a listener attached until the turn ends, so that its
 * questions stay pending until the client calls again or their deadline passes (L7); without one the setting `unattended`
 * would decide them. One set for all conversations of the process: the client may call again over another connection.
 *
 *     run by a call ── the call ends with a question ──► detached ── terminal event, or conversation closed ──► gone
 *           ▲                                               │
 *           └───────────── the client calls again ──────────┘  (the listener stays until the turn ends)
 */
import type { Conversation } from "@colloquy/core/Conversation"
import { untilTurnEnds } from "@colloquy/core/listeners/Listening"
import * as Effect from "effect/Effect"
import { CountedSet } from "../../../internal/CountedSet.ts"
import type { SharedState } from "../../../Server.ts"
import { turnKey } from "../../../questions/QuestionBroker.ts"

/** See the header. */
export interface DetachedTurns {
  /**
   * Attaches a listener that stays until the turn has ended, and resolves at once. `from`: number of an event that is not
   * after the end of the turn. Does nothing for a turn that has such a listener already.
   */
  readonly park: (
    conversation: Pick<Conversation, "id" | "attach">,
    turnId: string,
    from: number,
  ) => Effect.Effect<void>
  /** Turns that a call runs, or that wait for their next call, by `turnKey`: other calls leave the questions of these. */
  readonly owned: CountedSet
}

const make = (): DetachedTurns => {
  const owned = new CountedSet()
  const parked = new Set<string>()

  const park: DetachedTurns["park"] = (conversation, turnId, from) =>
    Effect.uninterruptible(
      Effect.gen(function* () {
        const name = turnKey(conversation.id, turnId)
        if (parked.has(name)) return
        parked.add(name)
        const disown = owned.add(name)
        const stay = Effect.gen(function* () {
          const listener = yield* conversation.attach({ answers: true, from })
          yield* Effect.interruptible(untilTurnEnds(listener, turnId))
        })
        // Detached: it ends with its turn or with the conversation, and nothing waits for it.
        yield* Effect.scoped(stay).pipe(
          Effect.catch((failure) =>
            Effect.logDebug(`no listener stays for turn ${turnId}: ${failure._tag}`),
          ),
          Effect.ensuring(
            Effect.sync(() => {
              parked.delete(name)
              disown()
            }),
          ),
          Effect.forkDetach({ startImmediately: true }),
        )
      }),
    )

  return { park, owned }
}

/** The detached turns of one server: the client may call again on another connection. */
export const detachedTurns: SharedState<DetachedTurns> = { make: () => Effect.sync(make) }
