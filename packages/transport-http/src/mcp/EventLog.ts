/**
 * The messages of one stream, in order, until readers have taken them; the last ones are kept for a reader that continues.
 *
 *   append ──▶ [ kept: seen by a reader │ unread ] ──▶ take (one reader at a time)
 *
 * Bounded in bytes (L6): read messages are dropped first. Where nobody reads, the oldest unread messages are dropped, except
 * the last one; where a reader is slow, the sender waits, and a reader that takes nothing for `stallTimeout` is detached.
 */
import { LazyLatch } from "@colloquy/server/jsonrpc/LazyLatch"
import * as Effect from "effect/Effect"

/** One message and its number in the stream, from 1 on. */
export interface LoggedMessage {
  readonly number: number
  readonly text: string
}

/** Bounds of a stream. */
export interface EventLogOptions {
  /** Characters of messages that are kept, read or not. Default 1,048,576. */
  readonly maxChars?: number
  /** How long a sender waits for a reader that takes nothing. Default 30,000 ms. */
  readonly stallMs?: number
}

/** What a reader has; a later reader of the same stream ends it. */
export interface LogReader {
  /** Number of the last message before those that it takes: what the client has at the start. */
  readonly after: number
  /**
   * The next messages, at least one; undefined once the stream has ended, or when the reader was detached; empty if `wake`
   * was called while there was none.
   */
  readonly take: Effect.Effect<ReadonlyArray<LoggedMessage> | undefined>
  /** Lets a `take` that waits return. */
  readonly wake: () => void
  /** Why the stream has ended without its last message; undefined while it has not, and where it has that. */
  readonly endReason: () => string | undefined
  /** The reader is gone: nobody waits for it any more. */
  readonly detach: () => void
}

/** The log of one stream. */
export class EventLog {
  private readonly kept: Array<LoggedMessage> = []
  private chars = 0
  private last = 0
  /** Number of the last message that a reader took. */
  private taken = 0
  private unreadChars = 0
  private ended = false
  private endReason: string | undefined
  private reader: object | undefined
  private readonly arrived = new LazyLatch(false)
  private readonly room = new LazyLatch(false)
  private readonly maxChars: number
  private readonly stallMs: number

  constructor({ maxChars = 1024 * 1024, stallMs = 30_000 }: EventLogOptions = {}) {
    this.maxChars = maxChars
    this.stallMs = stallMs
  }

  /** True while a reader is attached. */
  get isRead(): boolean {
    return this.reader !== undefined
  }

  /** True once no message follows. */
  get isEnded(): boolean {
    return this.ended
  }

  /** Characters of the messages that are kept. */
  get size(): number {
    return this.chars
  }

  /**
   * Adds a message; a message after the end is dropped.
   *
   * @param isLast whether the stream ends with it: a reader is woken at once, and must know that no other follows
   */
  push(text: string, isLast = false): void {
    if (this.ended) return
    this.ended = isLast
    this.kept.push({ number: ++this.last, text })
    this.chars += text.length
    this.unreadChars += text.length
    this.trim()
    this.arrived.openUnsafe()
    if (isLast) this.room.openUnsafe()
  }

  /** Resolves when an attached reader has taken enough, or is attached no more. */
  readonly hasRoom: Effect.Effect<void> = Effect.suspend(() =>
    this.isFull
      ? Effect.timeoutOrElse(this.roomMade, {
          duration: this.stallMs,
          orElse: () => Effect.sync(() => this.detachAny()),
        })
      : Effect.void,
  )

  /** Whether a sender has to wait. */
  get isFull(): boolean {
    return this.reader !== undefined && this.unreadChars > this.maxChars
  }

  /**
   * No message follows.
   *
   * @param reason why, for a reader of a stream that ends before its last message
   */
  end(reason?: string): void {
    if (!this.ended) this.endReason = reason
    this.ended = true
    this.arrived.openUnsafe()
    this.room.openUnsafe()
  }

  /** Whether the messages after this number are kept, so that a reader can continue there. */
  canContinue(after: number): boolean {
    return after >= this.before && after <= this.last
  }

  /** Whether the stream ends with the message of this number, so that nothing is left for who has it. */
  endsWith(number: number): boolean {
    return this.ended && number === this.last
  }

  /**
   * Attaches a reader in place of the present one.
   *
   * @param after number of the last message that the client has; default: that of the last message that was taken or dropped
   */
  attach(after: number = Math.max(this.taken, this.before)): LogReader {
    const self = {}
    let woken = false
    this.detachAny()
    this.reader = self
    this.moveTo(after)
    const next: Effect.Effect<ReadonlyArray<LoggedMessage> | undefined> = Effect.suspend(() => {
      if (this.reader !== self) return Effect.succeed(undefined)
      const unread = this.kept.filter(({ number }) => number > this.taken)
      if (unread.length > 0) {
        this.moveTo(this.last)
        this.trim()
        this.room.openUnsafe()
        return Effect.succeed(unread)
      }
      if (this.ended) return Effect.succeed(undefined)
      if (woken) {
        woken = false
        return Effect.succeed([])
      }
      this.arrived.closeUnsafe()
      return Effect.andThen(this.arrived.await, next)
    })
    return {
      after,
      take: next,
      wake: () => {
        woken = true
        this.arrived.openUnsafe()
      },
      endReason: () => this.endReason,
      detach: () => {
        if (this.reader === self) this.detachAny()
      },
    }
  }

  /** Number of the last message before those that are kept. */
  private get before(): number {
    return (this.kept[0]?.number ?? this.last + 1) - 1
  }

  private readonly roomMade: Effect.Effect<void> = Effect.suspend(() => {
    if (!this.isFull) return Effect.void
    this.room.closeUnsafe()
    return Effect.andThen(this.room.await, this.ended ? Effect.void : this.roomMade)
  })

  private detachAny(): void {
    this.reader = undefined
    this.arrived.openUnsafe()
    this.room.openUnsafe()
    this.trim()
  }

  private moveTo(after: number): void {
    this.taken = after
    this.unreadChars = 0
    for (const { number, text } of this.kept) if (number > after) this.unreadChars += text.length
  }

  private trim(): void {
    let count = 0
    for (const { number, text } of this.kept) {
      const isUnread = number > this.taken
      // An attached reader gets every message; one that is gone gets at least the last, which is the response.
      const mayGo = !isUnread || (this.reader === undefined && number < this.last)
      if (this.chars <= this.maxChars || !mayGo) break
      this.chars -= text.length
      if (isUnread) this.unreadChars -= text.length
      count++
    }
    if (count > 0) this.kept.splice(0, count)
  }
}
