/**
 * The turns whose caller is away to get an answer: somebody who can answer still counts as there until the turn ends,
 * so that what is asked meanwhile waits for the caller, or for its deadline (L7). Of the conversations of one process:
 * the caller may come back over another connection.
 */
import type { Conversation } from "@colloquy/core/Conversation"
import type { SharedState } from "../../../SharedState.ts"
import type { Listener, ListenerEnd } from "@colloquy/core/listeners/Listener"
import { isTerminal } from "@colloquy/protocol/EventMsg"
import * as Effect from "effect/Effect"
import { CountedSet } from "../../../internal/CountedSet.ts"
import { turnKey } from "../../../questions/QuestionBroker.ts"

export interface DetachedTurns {
  /** Until that turn has ended; `from` is an event not after its end. */
  readonly park: (
    conversation: Pick<Conversation, "id" | "attach">,
    turnId: string,
    from: number,
  ) => Effect.Effect<void>
  /** Turns that a call runs or has left, by `turnKey`: other calls leave their questions to that call. */
  readonly owned: CountedSet
}

const untilEnd = Effect.fnUntraced(function* (
  listener: Listener,
  turnId: string,
): Effect.fn.Return<void, ListenerEnd> {
  while (true) {
    for (const delivery of yield* listener.take) {
      if (delivery._tag !== "Event") continue
      const { id, msg } = delivery.event
      if (id === turnId && isTerminal(msg)) return
    }
  }
})

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
          yield* Effect.interruptible(untilEnd(listener, turnId))
        })
        // Nobody waits for it: it ends with its turn, or with the conversation.
        yield* Effect.scoped(stay).pipe(
          Effect.catch((failure) =>
            Effect.logDebug(`nobody stays for turn ${turnId}: ${failure._tag}`),
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

/** The detached turns of one server: their callers may return on another connection. */
export const detachedTurns: SharedState<DetachedTurns> = { make: () => Effect.sync(make) }
