/** Where a listener of a cluster takes its deliveries: a stream of another node, a listener of this process, or the log. */
import type { Conversation } from "@colloquy/core/Conversation"
import { ConversationArchived, ConversationUnavailable } from "@colloquy/core/ConversationErrors"
import type { Access, ConversationManager } from "@colloquy/core/ConversationManager"
import type { ConversationStore } from "@colloquy/core/ConversationStore"
import type { Delivery } from "@colloquy/core/listeners/Delivery"
import type { AttachOptions, FollowOptions } from "@colloquy/core/listeners/Listeners"
import { follow } from "@colloquy/core/manager/FollowingListener"
import { LeaseHeld } from "@colloquy/core/StoreErrors"
import { defined } from "@colloquy/protocol/Defined"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Pull from "effect/Pull"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { StreamItem } from "../ConversationOperations.ts"
import { Elsewhere } from "../NodeErrors.ts"
import { elsewhereOf, type SourceEnd } from "./Moving.ts"

/** A listener that is attached, from this event on. It ends with `Elsewhere` where the conversation moves. */
export interface Source {
  readonly from: number
  readonly take: Effect.Effect<ReadonlyArray<Delivery>, SourceEnd>
}

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

/** What a stream of another node has brought: deliveries that wait for the reader, and its end. */
class Received {
  from: number | undefined
  private deliveries: ReadonlyArray<Delivery> = []
  private end: SourceEnd | undefined

  add(items: ReadonlyArray<StreamItem>): void {
    for (const item of items) {
      if (item._tag === "Ended") this.end = item.because ?? Cause.Done()
      else this.deliveries = [...this.deliveries, ...item.deliveries]
      if (item._tag === "Attached") this.from = item.from
    }
  }

  /** What waits, or the end; undefined where the stream is to be read. */
  take(): Source["take"] | undefined {
    const { deliveries, end } = this
    this.deliveries = []
    if (deliveries.length > 0) return Effect.succeed(deliveries)
    return end === undefined ? undefined : Effect.fail(end)
  }
}

/** Attaches to a conversation of another node, for as long as the scope is open. */
export const sourceThere = Effect.fnUntraced(function* <E>(
  id: ConversationId,
  items: Stream.Stream<StreamItem, E>,
): Effect.fn.Return<Source, E | Elsewhere, Scope.Scope> {
  const moved = () => Effect.fail(new Elsewhere({ id }))
  const received = new Received()
  const pull = Effect.map(yield* Stream.toPull(items), (some) => received.add(some))
  // A stream that ends without its last item was cut.
  yield* Pull.catchDone(pull, moved)
  const take: Source["take"] = Effect.suspend(
    () =>
      received.take() ??
      Effect.matchCauseEffect(pull, {
        onSuccess: () => take,
        // The caller attaches again, and gets a typed error then. A defect is logged here.
        onFailure: (cause) => Effect.andThen(logDefects(id, cause), moved()),
      }),
  )
  return received.from === undefined ? yield* moved() : { from: received.from, take }
})

/** Logs the defect of a stream. */
const logDefects = (id: ConversationId, cause: Cause.Cause<unknown>): Effect.Effect<void> =>
  Cause.hasDies(cause)
    ? Effect.logError(`the stream of conversation ${id} from its node failed with a defect`, cause)
    : Effect.void

/** What the log of a conversation is read with. */
export interface LogParts {
  readonly store: ConversationStore["Service"]
  readonly metadata: ConversationManager["Service"]["metadata"]
  /** Resolves when the manager of this process has closed. */
  readonly closed: Effect.Effect<void>
}

/**
 * Reads the log of a conversation of another node from event `from` on, as it grows. For a node that calls no others any
 * more: a removal, an archiving and the end of a turn are noticed all the same.
 */
export const sourceOfLog = (
  id: ConversationId,
  access: Access | undefined,
  { closed, metadata, store }: LogParts,
  { answers, from }: FollowOptions,
) => {
  let isRead = false
  // What was recorded before an archiving is delivered first.
  const load = Effect.flatMap(metadata({ id }, access), ({ archived }) => {
    const because =
      archived && isRead ? new ConversationArchived() : new LeaseHeld({ id, holder: {} })
    isRead = true
    return Effect.fail(new ConversationUnavailable({ id, reason: because.message, because }))
  }).pipe(
    Effect.catchTag("StoreError", (because) =>
      Effect.fail(new ConversationUnavailable({ id, reason: because.message, because })),
    ),
  )
  return Effect.map(
    follow({ id, store, load }, { from, ...defined({ answers }) }),
    ({ take }): Source => ({
      from,
      take: Effect.raceFirst(take, Effect.andThen(closed, Cause.done())),
    }),
  )
}
