/**
 * Who of one connection's client listens to which conversation: takes in what the server tells and keeps it, in bounded
 * memory, until it is read. Never makes the reader of the connection wait: a listener that is too slow is let go of, and
 * subscribes again behind the last event that it was given (L4, L6).
 */
import type { Params } from "@colloquy/protocol/Method"
import {
  type ConversationClosed,
  type ConversationLagged,
  type ConversationSynced,
  type EventParams,
} from "@colloquy/protocol/app/Events"
import { type AnyEventMsg, EventMsg, isEphemeral } from "@colloquy/protocol/EventMsg"
import * as Latch from "effect/Latch"

/** What a listener of a conversation is told. */
export type Told =
  | {
      readonly _tag: "Event"
      /** Of the turn, or of the submission, that it belongs to. */
      readonly id: string
      readonly msg: AnyEventMsg
      /** Of events that are kept, without a gap where all are told (`raw`); pieces of text carry the number of the event before them. */
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

  event({ id, msg, seq }: EventParams): void {
    if (isKept(msg)) {
      if (seq <= this.cursor) return
      this.cursor = seq
    }
    this.push({ _tag: "Event", id, msg, seq })
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

  /** Nothing more comes at all. */
  close(): void {
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
  readonly onLagged: (params: Params<typeof ConversationLagged>) => void
  readonly onClosed: (params: Params<typeof ConversationClosed>) => void
  /** The connection has ended. */
  readonly end: () => void
}

/** @param dropped is told of subscriptions that are let go of */
export const make = (dropped: (subscriptionId: string) => void): Subscribers => {
  const all = new Map<string, Subscriber>()

  const tell = (id: string, give: (subscriber: Subscriber) => void): void => {
    const subscriber = all.get(id)
    if (subscriber === undefined) return
    if (!subscriber.isFull) return give(subscriber)
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
    onSynced: ({ seq, subscriptionId }) =>
      tell(subscriptionId, (one) => one.push({ _tag: "Synced", seq })),
    onLagged: ({ from, subscriptionId }) =>
      tell(subscriptionId, (one) => one.push({ _tag: "Resumed", from })),
    // It takes no room: who is full reads the rest, and then the end.
    onClosed: ({ subscriptionId }) => all.get(subscriptionId)?.close(),
    end: () => {
      for (const subscriber of all.values()) subscriber.release()
      all.clear()
    },
  }
}
