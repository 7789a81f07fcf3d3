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

export interface DetachedTurns {
  /** Until that turn has ended; `from` is an event not after its end. */
  readonly park: (
    conversation: Pick<Conversation, "id" | "attach">,
    turnId: string,
    from: number,
  ) => Effect.Effect<void>
  /** A call runs that turn until the function that it gets is called: its questions are that call's to put. */
  readonly run: (conversationId: string, turnId: string) => () => void
  readonly isRun: (conversationId: string, turnId: string) => boolean
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
              leave()
            }),
          ),
          Effect.forkDetach({ startImmediately: true }),
        )
      }),
    )

  return { park, run, isRun: (...turn) => users.has(nameOf(...turn)) }
}

/** The detached turns of one server: their callers may return on another connection. */
export const detachedTurns: SharedState<DetachedTurns> = { make: () => Effect.sync(make) }
