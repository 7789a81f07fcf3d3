/**
 * A listener that follows its conversation from node to node by the number of the next event.
 *
 * ```
 *   attach ──▶ attached ── the conversation moves, or its node ends ──▶ detached ── `take` ──▶ attached, from the next event
 * ```
 *
 * The numbers of durable events are those of the log on every node, so that each is delivered once and in order (L4). Deltas
 * may be lost between two nodes: a `Lagged` then precedes what follows, and the text of what is still being written is
 * delivered again.
 */
import { ConversationUnavailable } from "@colloquy/core/ConversationErrors"
import type { AttachError } from "@colloquy/core/ConversationErrors"
import type { GetError } from "@colloquy/core/ConversationManager"
import type { Delivery } from "@colloquy/core/listeners/Delivery"
import type { Listener, ListenerEnd } from "@colloquy/core/listeners/Listener"
import { isEphemeral } from "@colloquy/protocol/EventMsg"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { Source } from "./Sources.ts"
import { Elsewhere } from "../NodeErrors.ts"

/**
 * Wait before an attachment that follows one which delivered no event: a node that has just lost the conversation may still
 * accept listeners. It doubles up to the longest one.
 */
const firstWaitMs = 20
const longestWaitMs = 320

/**
 * Attaches from this event on, or from the next one, wherever the conversation is. `isAgain`: the listener was attached
 * before, and has been delivered what precedes that event.
 */
export type AttachFrom = (
  from: number | undefined,
  isAgain: boolean,
) => Effect.Effect<Source, GetError | AttachError, Scope.Scope>

/** How a listener ends that cannot be attached again. */
const endOf = (id: ConversationId, error: GetError | AttachError): ListenerEnd => {
  switch (error._tag) {
    case "NoSuchConversation":
    case "ManagerClosed":
      return Cause.Done()
    case "ConversationUnavailable":
      return error
    default:
      return new ConversationUnavailable({ id, reason: error.message })
  }
}

class ClusterListener implements Listener {
  private readonly id: ConversationId
  private readonly attachFrom: AttachFrom
  /** The listener is detached when it closes. */
  private readonly scope: Scope.Scope
  private next = 0
  /** Wait before the next attachment; 0 once a durable event was delivered. */
  private waitMs = 0
  private source: (Source & { readonly scope: Scope.Closeable }) | undefined

  constructor(id: ConversationId, attachFrom: AttachFrom, scope: Scope.Scope) {
    this.id = id
    this.attachFrom = attachFrom
    this.scope = scope
  }

  get take(): Listener["take"] {
    return this.takeNext()
  }

  private takeNext(): Listener["take"] {
    return Effect.suspend(() => {
      const { source } = this
      if (source === undefined) return this.takeAgain()
      return Effect.matchEffect(source.take, {
        onSuccess: (deliveries) => Effect.succeed(this.count(deliveries)),
        onFailure: (end) => {
          // Its node may wait for the end of the stream.
          const closing = Scope.close(source.scope, Exit.void)
          if (!(end instanceof Elsewhere)) return Effect.andThen(closing, Effect.fail(end))
          this.source = undefined
          return Effect.andThen(closing, this.takeLater())
        },
      })
    })
  }

  private takeLater(): Listener["take"] {
    const { waitMs } = this
    this.waitMs = Math.min(Math.max(firstWaitMs, 2 * waitMs), longestWaitMs)
    return Effect.andThen(waitMs === 0 ? Effect.void : Effect.sleep(waitMs), this.takeNext())
  }

  /** Attaches. Fails, and stays detached, where that is not possible. */
  attach(from: number | undefined, isAgain: boolean): Effect.Effect<void, GetError | AttachError> {
    return Effect.uninterruptibleMask((restore) =>
      Effect.gen({ self: this }, function* () {
        const scope = yield* Scope.fork(this.scope)
        const attaching = Scope.provide(restore(this.attachFrom(from, isAgain)), scope)
        const source = yield* Effect.onError(attaching, () => Scope.close(scope, Exit.void))
        this.source = { ...source, scope }
        this.next = source.from
      }),
    )
  }

  private takeAgain(): Listener["take"] {
    return Effect.matchEffect(this.attach(this.next, true), {
      onSuccess: () => Effect.succeed([{ _tag: "Lagged", from: this.next } as const]),
      onFailure: (error) => Effect.fail(endOf(this.id, error)),
    })
  }

  private count(deliveries: ReadonlyArray<Delivery>): ReadonlyArray<Delivery> {
    for (const delivery of deliveries) {
      if (delivery._tag !== "Event" || isEphemeral(delivery.event.msg)) continue
      this.next = Math.max(this.next, delivery.event.seq + 1)
      this.waitMs = 0
    }
    return deliveries
  }
}

/** Attaches a listener until the scope closes. */
export const attach = Effect.fnUntraced(function* (
  id: ConversationId,
  from: number | undefined,
  attachFrom: AttachFrom,
): Effect.fn.Return<Listener, GetError | AttachError, Scope.Scope> {
  const listener = new ClusterListener(id, attachFrom, yield* Effect.scope)
  yield* listener.attach(from, false)
  return listener
})
