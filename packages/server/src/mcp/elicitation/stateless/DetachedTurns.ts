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
import type { ConversationManager } from "@colloquy/core/ConversationManager"
import { untilTurnEnds } from "@colloquy/core/listeners/Listening"
import * as Effect from "effect/Effect"

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
  /** Declares that a call runs this turn and asks its questions, until the returned function is called. */
  readonly run: (conversationId: string, turnId: string) => () => void
  /** Whether a call runs this turn, or a listener stays for one that will. */
  readonly isRun: (conversationId: string, turnId: string) => boolean
}

const make = (): DetachedTurns => {
  const users = new Map<string, number>()
  const parked = new Set<string>()
  const nameOf = (conversationId: string, turnId: string) => `${conversationId} ${turnId}`

  const run: DetachedTurns["run"] = (conversationId, turnId) => {
    const name = nameOf(conversationId, turnId)
    users.set(name, (users.get(name) ?? 0) + 1)
    let done = false
    return () => {
      if (done) return
      done = true
      const left = (users.get(name) ?? 1) - 1
      if (left > 0) users.set(name, left)
      else users.delete(name)
    }
  }

  const park: DetachedTurns["park"] = (conversation, turnId, from) =>
    Effect.uninterruptible(
      Effect.gen(function* () {
        const name = nameOf(conversation.id, turnId)
        if (parked.has(name)) return
        parked.add(name)
        const leave = run(conversation.id, turnId)
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
              leave()
            }),
          ),
          Effect.forkDetach({ startImmediately: true }),
        )
      }),
    )

  return { park, run, isRun: (...turn) => users.has(nameOf(...turn)) }
}

type Manager = ConversationManager["Service"]

const known = new WeakMap<Manager, DetachedTurns>()

/** The detached turns of that manager's conversations. */
export const detachedTurnsOf = (manager: Manager): DetachedTurns => {
  const turns = known.get(manager) ?? make()
  known.set(manager, turns)
  return turns
}
