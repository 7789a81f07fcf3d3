/**
 * The calls of other nodes for ephemeral conversations, which a node that shuts down lets end: what they have not got by then
 * is in no log. Whoever calls for any other conversation gets the rest from its next owner.
 */
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Stream from "effect/Stream"
import { operations } from "../ConversationOperations.ts"
import type { ConversationCalls } from "../Nodes.ts"

/** A node that does not read what is sent to it delays the shutdown by this. */
const patience = Duration.seconds(2)

/** Any of the operations. */
type AnyCall = (payload: {
  readonly id: ConversationId
}) => Effect.Effect<unknown, unknown> | Stream.Stream<unknown, unknown>

/** The calls that have not ended. */
export class EphemeralCalls {
  private readonly ephemeral: ReadonlySet<ConversationId>
  private count = 0
  private readonly none = Latch.makeUnsafe(true)

  constructor(ephemeral: ReadonlySet<ConversationId>) {
    this.ephemeral = ephemeral
  }

  /** The same operations, counted while they are carried out. */
  counted(calls: ConversationCalls): ConversationCalls {
    const all = operations.map(({ _tag }) => {
      const call = calls[_tag] as AnyCall
      const counting: AnyCall = (payload) => {
        const response = call(payload)
        if (!this.ephemeral.has(payload.id)) return response
        return Effect.isEffect(response)
          ? Effect.scoped(Effect.andThen(this.one, response))
          : Stream.unwrap(Effect.as(this.one, response))
      }
      return [_tag, counting]
    })
    // One member per operation, each of the type that it had.
    return Object.fromEntries(all) as ConversationCalls
  }

  /** Resolves when all have ended, and in bounded time. */
  get ended(): Effect.Effect<void> {
    return Effect.suspend(() =>
      this.count === 0 ? Effect.void : Effect.ignore(Effect.timeout(this.none.await, patience)),
    )
  }

  /** One call, for as long as the scope is open. */
  private readonly one = Effect.acquireRelease(
    Effect.sync(() => {
      this.count++
      this.none.closeUnsafe()
    }),
    () =>
      Effect.sync(() => {
        this.count--
        if (this.count === 0) this.none.openUnsafe()
      }),
  )
}
