/**
 * A listener of a conversation that may be in another process: while that one has it, the listener reads the log in the
 * store as it grows; when no process has it any more, the conversation is loaded here.
 *
 * ```
 *   attach ──▶ reading the log ── nobody has it ──▶ live
 *                    ▲                               │
 *                    └──── another process has it ◀──┘
 * ```
 *
 * The numbers of events are those of the log in every process, so that the listener delivers each durable event once and
 * in order, whoever appends it (L4). There is one more `Synced` behind each change. While it reads the log there are no
 * ephemeral events, and no questions to answer: the process that has the conversation takes the answers.
 *
 * It waits on the clock between two reads, longer while nothing is appended, and holds one page: a log that grows faster
 * than it is read costs no memory (L6).
 */
import { isEphemeral } from "@colloquy/protocol/EventMsg"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import {
  type AttachError,
  type ConversationUnavailable,
  EventsFromFuture,
  holderOf,
  isGone,
  NoSuchConversation,
} from "../ConversationErrors.ts"
import type { Conversation } from "../conversation/ConversationHandle.ts"
import type { GetError } from "../ConversationManager.ts"
import type { ConversationStore, Position, RecordPage } from "../ConversationStore.ts"
import { LeaseLost, type StoreError } from "../StoreErrors.ts"
import { withinStoreTimeout } from "../store/StoreTimeout.ts"
import type { Delivery } from "../listeners/Delivery.ts"
import type { Listener, ListenerEnd } from "../listeners/Listener.ts"
import type { AttachOptions, FollowOptions } from "../listeners/Listeners.ts"
import { damaged, unavailable } from "./Storage.ts"

/** Records per page. */
const pageSize = 256

/** A page with more records is not read again at its end: the next read begins with its last record. */
const rereadSize = 8

/** Wait between two reads of a log that grows: a person does not notice it. It grows to the longest one. */
const shortestWaitMs = 50
const longestWaitMs = 500

/** How long nothing is appended before the first attempt to load the conversation, which doubles up to the longest one. */
const firstAttemptMs = 1000
const longestAttemptMs = 10_000

/** What the listener needs of the manager. */
export interface Followed {
  readonly id: ConversationId
  readonly store: ConversationStore["Service"]
  /** Finds the conversation and loads it in this process. */
  readonly load: Effect.Effect<Conversation, GetError>
}

/** True for the errors that say that another process appends to the log. */
const isElsewhere = (error: GetError | AttachError): boolean =>
  holderOf(error) !== undefined ||
  (error._tag === "ConversationUnavailable" && error.because instanceof LeaseLost)

/** Reads the log of a conversation that another process may have, and the conversation once this process has it. */
class FollowingListener implements Listener {
  private readonly followed: Followed
  private readonly answers: NonNullable<AttachOptions["answers"]>
  private readonly scope: Scope.Scope
  /** Number of the next durable event to deliver. */
  private next: number
  private live: { readonly listener: Listener; readonly scope: Scope.Closeable } | undefined
  /** Where the next page begins; undefined where that has to be found. */
  private position: Position | undefined
  private isSynced = false
  private waitMs = shortestWaitMs
  private attemptMs = firstAttemptMs
  /** Time of the last event or attempt. */
  private quietSinceMs = 0

  /**
   * @param from number of the first durable event to deliver
   * @param scope the conversation is detached with it
   */
  constructor(
    followed: Followed,
    from: number,
    answers: NonNullable<AttachOptions["answers"]>,
    scope: Scope.Scope,
  ) {
    this.followed = followed
    this.next = from
    this.answers = answers
    this.scope = scope
  }

  get take(): Listener["take"] {
    return Effect.suspend(() =>
      this.live === undefined ? this.takeRecorded() : this.takeLive(this.live),
    )
  }

  /** Attaches to the conversation in this process. Fails, and goes on reading the log, where it cannot be loaded. */
  attach(): Effect.Effect<void, GetError | AttachError> {
    return Effect.uninterruptibleMask((restore) =>
      Effect.gen({ self: this }, function* () {
        const conversation = yield* restore(this.followed.load)
        const scope = yield* Scope.fork(this.scope)
        const { answers, next } = this
        const attaching = conversation.attach({ from: next, answers })
        const listener = yield* Scope.provide(attaching, scope).pipe(
          Effect.onError(() => Scope.close(scope, Exit.void)),
        )
        this.live = { listener, scope }
      }),
    )
  }

  private takeLive({ listener, scope }: NonNullable<typeof this.live>): Listener["take"] {
    return Effect.matchEffect(listener.take, {
      onSuccess: (deliveries) => {
        for (const delivery of deliveries) {
          if (delivery._tag !== "Event" || isEphemeral(delivery.event.msg)) continue
          this.next = delivery.event.seq + 1
        }
        return Effect.succeed(deliveries)
      },
      onFailure: (end) => {
        if (end._tag === "Done" || !isElsewhere(end)) return Effect.fail(end)
        this.live = undefined
        this.position = undefined
        this.isSynced = false
        return Effect.andThen(Scope.close(scope, Exit.void), this.take)
      },
    })
  }

  private takeRecorded(): Listener["take"] {
    return Effect.gen({ self: this }, function* () {
      while (true) {
        const deliveries = yield* this.readPage()
        if (deliveries === undefined) continue
        const nowMs = yield* Clock.currentTimeMillis
        if (deliveries.length > 0) {
          this.waitMs = shortestWaitMs
          this.attemptMs = firstAttemptMs
          this.quietSinceMs = nowMs
          return deliveries
        }
        if (nowMs - this.quietSinceMs >= this.attemptMs) {
          this.quietSinceMs = nowMs
          this.attemptMs = Math.min(2 * this.attemptMs, longestAttemptMs)
          yield* this.tryToAttach()
          if (this.live !== undefined) return yield* this.take
        }
        yield* Effect.sleep(this.waitMs)
        this.waitMs = Math.min(1.5 * this.waitMs, longestWaitMs)
      }
    })
  }

  /** Loads the conversation if no process has it. Fails where it does not exist for clients any more. */
  private tryToAttach(): Effect.Effect<void, ListenerEnd> {
    return Effect.catch(this.attach(), (error): Effect.Effect<void, ListenerEnd> => {
      switch (error._tag) {
        case "NoSuchConversation":
        case "ManagerClosed":
          return Cause.done()
        case "ConversationUnavailable":
          // Whatever else keeps it from being loaded here does not keep the log from being read.
          return isGone(error) ? Effect.fail(error) : Effect.void
        default:
          return Effect.void
      }
    })
  }

  /** The next page as deliveries; undefined for a page without any, behind which there are more. */
  private readPage(): Effect.Effect<ReadonlyArray<Delivery> | undefined, ListenerEnd> {
    return Effect.gen({ self: this }, function* () {
      this.position ??= yield* this.startOf(this.next)
      const page = yield* this.read(this.position, pageSize)
      const deliveries: Array<Delivery> = []
      for (const record of page.records) {
        if (record._tag !== "Event" || record.event.seq < this.next) continue
        const { atMs, event } = record
        if (event.seq !== this.next) return yield* this.damaged(event.seq)
        deliveries.push({ _tag: "Event", event, atMs })
        this.next++
      }
      this.position = yield* this.behind(this.position, page)
      if (page.next !== undefined) return deliveries.length > 0 ? deliveries : undefined
      if (!this.isSynced) deliveries.push({ _tag: "Synced", seq: this.next })
      this.isSynced = true
      return deliveries
    }).pipe(
      Effect.catchTags({
        NoSuchConversation: () => Cause.done(),
        StoreError: (error) => Effect.fail(unavailable(this.followed, error)),
      }),
    )
  }

  private damaged(found: number): Effect.Effect<never, ConversationUnavailable> {
    return Effect.fail(
      unavailable(this.followed, damaged(`expected event ${this.next}, found event ${found}`)),
    )
  }

  private read(from: Position, max: number) {
    const { id, store } = this.followed
    return withinStoreTimeout("read", store.read(id, { from, max }))
  }

  /** Where to read on: behind the page, or with the last record of a page that is the end of the log now. */
  private behind(
    from: Position,
    { next, records }: RecordPage,
  ): Effect.Effect<Position, StoreError | NoSuchConversation> {
    if (next !== undefined) return Effect.succeed(next)
    if (records.length <= rereadSize) return Effect.succeed(from)
    return Effect.map(this.read(from, records.length - 1), ({ next: last }) => last ?? from)
  }

  private startOf(seq: number): Effect.Effect<Position, StoreError | NoSuchConversation> {
    const { id, store } = this.followed
    if (seq === 0) return Effect.succeed(0)
    const before = withinStoreTimeout("read", store.positionOf(id, seq - 1))
    return Effect.map(before, (position) => position ?? 0)
  }
}

/** Number that the next durable event of a log gets. */
const nextSeqOf = Effect.fnUntraced(function* ({
  id,
  store,
}: Followed): Effect.fn.Return<number, StoreError | NoSuchConversation> {
  let before: Position | undefined
  while (true) {
    const page: RecordPage = yield* withinStoreTimeout(
      "read",
      store.readBackward(id, { max: pageSize, ...(before === undefined ? {} : { before }) }),
    )
    const last = page.records.findLast((record) => record._tag === "Event")
    if (last?._tag === "Event") return last.event.seq + 1
    if (page.next === undefined) return 0
    before = page.next
  }
})

/**
 * Attaches to a conversation, in whichever process it is, from durable event `from` on. Until the scope closes. Fails like
 * `Conversation.attach`, but not because another process has the conversation.
 */
export const follow = Effect.fnUntraced(function* (
  followed: Followed,
  { answers, from }: FollowOptions,
): Effect.fn.Return<Listener, GetError | AttachError, Scope.Scope> {
  const listener = new FollowingListener(
    followed,
    Math.max(0, from),
    answers ?? false,
    yield* Effect.scope,
  )
  const refused = yield* Effect.flip(listener.attach()).pipe(Effect.option)
  if (refused._tag === "None") return listener
  const error = refused.value
  if (!isElsewhere(error)) return yield* Effect.fail(error)
  const next = yield* Effect.mapError(nextSeqOf(followed), (fault) =>
    fault._tag === "StoreError" ? unavailable(followed, fault) : fault,
  )
  return from > next ? yield* new EventsFromFuture({ from, next }) : listener
})
