/**
 * Who of one connection's client listens to which conversation: takes in what the server tells and keeps it, in bounded
 * memory, until it is read. Never makes the reader of the connection wait: a listener that is too slow is let go of, and
 * subscribes again behind the last event that it was given (L4, L6).
 */
import type { Params } from "@colloquy/protocol/Method"
import {
  type ConversationClosed,
  type ConversationLagged,
  type ConversationSkipped,
  type ConversationSynced,
  type EventParams,
} from "@colloquy/protocol/app/Events"
import { type AnyEventMsg, EventMsg, isEphemeral } from "@colloquy/protocol/EventMsg"
import * as Data from "effect/Data"
import * as Latch from "effect/Latch"

/**
 * The server can record nothing of the conversation any more. The turn that ran has been stopped; its terminal event is
 * delivered to the next `events` whose `after` is `next - 1`, once the store works again.
 */
export class ConversationFailed extends Data.TaggedError("ConversationFailed")<{
  readonly reason: string
  /** Number of the first event that was not delivered. */
  readonly next: number
}> {
  override get message() {
    return this.reason
  }
}

/** What a listener of a conversation is told. */
export type Told =
  | {
      readonly _tag: "Event"
      /** Of the turn, or of the submission, that it belongs to. */
      readonly id: string
      readonly msg: AnyEventMsg
      /** Of events that are kept, without a gap where all are delivered (`raw`); pieces of text carry the number of the event before them. */
      readonly seq: number
    }
  /** Everything so far has been told; the next event that is kept has this number. */
  | { readonly _tag: "Synced"; readonly seq: number }
  /**
   * Events go on at this number after a pause: the client was too slow, or the connection was lost. No event is missing
   * or comes twice; pieces of text may be missing, and a text that is under way comes from its beginning.
   */
  | { readonly _tag: "Resumed"; readonly from: number }

/** Unread items of one listener before it is let go of: as many as the server keeps for one. */
const maxUnread = 1024

const isKept = (msg: AnyEventMsg): boolean => !isEphemeral(msg as EventMsg)

export class Subscriber {
  /** The last event that was kept for it. */
  cursor: number
  /** While it is subscribed. */
  subscriptionId: string | undefined
  /** Nobody reads it any more. */
  over = false
  /** Its conversation has ended: what is unread is the last. */
  closed = false
  /** Why nothing can be recorded of its conversation any more, where that was the end. */
  failure: string | undefined
  /** Where a number was missing: what follows was asked for again from there. */
  private missingAfter: number | undefined
  private begun = false
  private unread: Array<Told> = []
  private readonly woken = Latch.makeUnsafe(false)

  constructor(after: number) {
    this.cursor = after
  }

  /** Opens when there is something to do. */
  get wait() {
    return this.woken.await
  }

  push(one: Told): void {
    this.unread.push(one)
    this.woken.openUnsafe()
  }

  /** False where a number is missing before it: the events from there have to be asked for again. */
  event({ id, msg, seq = this.cursor }: EventParams): boolean {
    if (isKept(msg)) {
      if (seq <= this.cursor) return true
      if (this.misses(seq)) return false
      this.cursor = seq
    }
    this.push({ _tag: "Event", id, msg, seq })
    return true
  }

  /** Likewise, of an event that is kept and not sent. */
  skipped(seq: number): boolean {
    if (seq <= this.cursor) return true
    if (this.misses(seq)) return false
    this.cursor = seq
    return true
  }

  /** A number that is missing again after it was asked for is not sent: older servers number what they do not send. */
  private misses(seq: number): boolean {
    if (seq === this.cursor + 1 || this.missingAfter === this.cursor) return false
    this.missingAfter = this.cursor
    return true
  }

  get isFull(): boolean {
    return this.unread.length >= maxUnread
  }

  /** What follows comes of this subscription. */
  begin(subscriptionId: string): void {
    if (this.begun) this.push({ _tag: "Resumed", from: this.cursor + 1 })
    this.begun = true
    this.subscriptionId = subscriptionId
  }

  /** Nothing more comes at all. `failure`: nothing can be recorded any more. */
  close(failure?: string): void {
    this.failure = failure
    this.closed = true
    this.woken.openUnsafe()
  }

  /** Nothing more comes of its subscription. */
  release(): void {
    this.subscriptionId = undefined
    this.woken.openUnsafe()
  }

  take(): ReadonlyArray<Told> {
    const taken = this.unread
    this.unread = []
    if (this.subscriptionId !== undefined) this.woken.closeUnsafe()
    return taken
  }
}

export interface Subscribers {
  /** Lets go of one that nobody reads any more. */
  readonly add: (subscriptionId: string, subscriber: Subscriber) => void
  /** True when it was there. */
  readonly remove: (subscriptionId: string) => boolean
  readonly onEvent: (params: EventParams) => void
  readonly onSynced: (params: Params<typeof ConversationSynced>) => void
  readonly onSkipped: (params: Params<typeof ConversationSkipped>) => void
  readonly onLagged: (params: Params<typeof ConversationLagged>) => void
  readonly onClosed: (params: Params<typeof ConversationClosed>) => void
  /** The connection has ended. */
  readonly end: () => void
}

/** @param dropped is told of subscriptions that are let go of */
export const make = (dropped: (subscriptionId: string) => void): Subscribers => {
  const all = new Map<string, Subscriber>()

  /** `give` is false where the subscriber has to ask again for what follows. */
  const tell = (id: string, give: (subscriber: Subscriber) => boolean): void => {
    const subscriber = all.get(id)
    if (subscriber === undefined) return
    if (!subscriber.isFull && give(subscriber)) return
    all.delete(id)
    subscriber.release()
    dropped(id)
  }

  return {
    add: (id, subscriber) => {
      if (subscriber.over) return dropped(id)
      subscriber.begin(id)
      all.set(id, subscriber)
    },
    remove: (id) => all.delete(id),
    onEvent: (params) => tell(params.subscriptionId, (one) => one.event(params)),
    onSkipped: ({ seq, subscriptionId }) => tell(subscriptionId, (one) => one.skipped(seq)),
    onSynced: ({ seq, subscriptionId }) =>
      tell(subscriptionId, (one) => {
        one.push({ _tag: "Synced", seq })
        return true
      }),
    onLagged: ({ from, subscriptionId }) =>
      tell(subscriptionId, (one) => {
        one.push({ _tag: "Resumed", from })
        return true
      }),
    // It takes no room: a full subscriber reads the rest, and then the end.
    onClosed: ({ reason, subscriptionId }) => all.get(subscriptionId)?.close(reason),
    end: () => {
      for (const subscriber of all.values()) subscriber.release()
      all.clear()
    },
  }
}
