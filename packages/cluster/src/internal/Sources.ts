/** Where a listener of a cluster takes its deliveries: a stream of another node, or a listener of this process. */
import type { Conversation } from "@colloquy/core/Conversation"
import type { Delivery } from "@colloquy/core/listeners/Delivery"
import type { AttachOptions } from "@colloquy/core/listeners/Listeners"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { silentFor, type StreamItem } from "../ConversationOperations.ts"
import { Elsewhere } from "../NodeErrors.ts"
import { elsewhereOf, type SourceEnd } from "./Moving.ts"

/** A listener that is attached, from this event on. It ends with `Elsewhere` where the conversation moves. */
export interface Source {
  readonly from: number
  readonly take: Effect.Effect<ReadonlyArray<Delivery>, SourceEnd>
}

/** Batches of another node that wait here: the next one is on its way while one is read. */
const bufferedBatches = 4

/** Attaches to a conversation of this process. */
export const sourceHere = Effect.fnUntraced(function* (
  conversation: Conversation,
  options: AttachOptions,
) {
  const from = options.from ?? (yield* conversation.state).seq
  const listener = yield* conversation.attach({ ...options, from })
  const take = Effect.mapError(
    listener.take,
    (end): SourceEnd => elsewhereOf(conversation.id, end) ?? end,
  )
  return { from, take } satisfies Source
})

/**
 * The caller gets a typed error, of this attempt or of the next one. A defect is logged here, since the listener
 * only attaches again.
 */
const logDefects = (id: ConversationId, cause: Cause.Cause<unknown>): Effect.Effect<void> =>
  Cause.hasDies(cause)
    ? Effect.logError(`the stream of conversation ${id} from its node failed with a defect`, cause)
    : Effect.void

/**
 * Attaches to a conversation of another node, for as long as the scope is open. A node that is silent for too long is lost.
 * So is one in whose place the cluster asks the next owner for the same stream: that begins where this one did.
 */
export const sourceThere = Effect.fnUntraced(function* <E>(
  id: ConversationId,
  items: Stream.Stream<StreamItem, E>,
): Effect.fn.Return<Source, E | Elsewhere, Scope.Scope> {
  const queue = yield* Queue.bounded<ReadonlyArray<Delivery>, SourceEnd>(bufferedBatches)
  const attached = yield* Deferred.make<number, E | Elsewhere>()
  const moved = new Elsewhere({ id })
  const accept = (item: StreamItem): Effect.Effect<unknown, Elsewhere> => {
    switch (item._tag) {
      case "Attached":
        return Effect.filterOrFail(
          Deferred.succeed(attached, item.from),
          (isFirst) => isFirst,
          () => moved,
        )
      case "Alive":
        return Effect.void
      case "Deliveries":
        return Queue.offer(queue, item.deliveries)
      case "Ended":
        return Queue.fail(queue, item.because ?? Cause.Done())
    }
  }
  yield* Stream.runForEach(Stream.timeout(items, silentFor), accept).pipe(
    Effect.onExit((exit) => {
      const error = Exit.isFailure(exit)
        ? Option.getOrElse(Cause.findErrorOption(exit.cause), () => moved)
        : moved
      return Effect.andThen(Deferred.fail(attached, error), Queue.fail(queue, moved))
    }),
    Effect.catchCause((cause) => logDefects(id, cause)),
    Effect.forkScoped({ startImmediately: true }),
  )
  const from = yield* Deferred.await(attached)
  return { from, take: Effect.map(Queue.takeAll(queue), (batches) => batches.flat()) }
})
