/**
 * The only writer of a stream: a queue of texts bounded in bytes, written in batches, one write at
 * a time.
 *
 *   idle ── send ──▶ scheduled ── microtask ──▶ writing ── written ──▶ idle, or scheduled if texts are queued
 *    any ── stream fails, closes or stalls, or `close` ──▶ gone (every send fails)
 *
 * A sender whose texts do not fit waits, first come first served, and fails when the stream is
 * gone. A text is written whole or not at all. Uses plain callbacks: a message costs no fiber (L6,
 * L9).
 */
import { ConnectionClosed } from "@colloquy/protocol/Connection"
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Writable } from "node:stream"

/** The writing side of a connection. */
export interface Outbox {
  /**
   * Resolves when all texts are accepted. Fails when the stream is gone; texts that were accepted
   * may then not have been written.
   */
  readonly send: (texts: ReadonlyArray<string>) => Effect.Effect<void, ConnectionClosed>
  /** Accepts all texts at once, or returns false: they would have to wait, or the stream is gone. */
  readonly sendNow: (texts: ReadonlyArray<string>) => boolean
  /**
   * Resolves when all texts accepted before have been handed to the operating system, or the stream
   * is gone.
   */
  readonly flush: Effect.Effect<void>
  /**
   * Resolves when the last write of texts accepted before is `apartMs` ago, or the stream is gone.
   */
  readonly apart: Effect.Effect<void>
  /** From now on a reader that takes nothing for `maxStallMs` counts as gone. */
  readonly limitStalls: (maxStallMs: number) => void
  /**
   * Fails all senders from now on, drops what was accepted but not written, and releases the
   * stream.
   */
  readonly close: (reason: string) => void
}

interface Sender {
  readonly texts: ReadonlyArray<string>
  readonly bytes: number
  readonly resume: (exit: Exit.Exit<void, ConnectionClosed>) => void
}

interface Flusher {
  /** Number of the last accepted text to wait for. */
  readonly upTo: number
  readonly resume: (exit: Exit.Exit<void>) => void
}

/**
 * Approximate number of characters per write. The system's buffers are smaller, and each completed
 * write shows that the reader is alive.
 */
const maxWriteChars = 256 * 1024

/** How often a stall is checked for. */
const stallChecks = 5

const bytesOf = (texts: ReadonlyArray<string>) => {
  let bytes = 0
  for (const text of texts) bytes += Buffer.byteLength(text) + 1
  return bytes
}

/** Limits of an outbox. */
export interface OutboxOptions {
  /** Bytes accepted and not yet written; a single larger text is accepted when nothing else is waiting. */
  readonly maxBytes: number
  /** How long after a write the reader is expected to have read it. */
  readonly apartMs: number
  /** Measures that time, so that it also passes on a virtual clock. */
  readonly clock: Clock.Clock
  /** Called once, when the stream fails or closes by itself. */
  readonly onGone: (reason: string) => void
}

class StreamOutbox implements Outbox {
  private readonly output: Writable
  private readonly options: OutboxOptions
  private queue: Array<string> = []
  /** Bytes of texts that are accepted and not written. */
  private pendingBytes = 0
  /** Number of texts accepted so far. */
  private accepted = 0
  /** Number of texts written so far. */
  private written = 0
  private writtenAtMs = Number.NEGATIVE_INFINITY
  private writing = false
  /** True while a microtask that writes is queued. */
  private scheduled = false
  /** True between a failed write and the stream's error event. */
  private errorPending = false
  private closed: ConnectionClosed | undefined
  private stallTimer: NodeJS.Timeout | undefined
  private readonly senders = new Set<Sender>()
  private readonly flushers = new Set<Flusher>()
  /** Ends each waiting `apart` early. */
  private readonly pauses = new Set<() => void>()

  constructor(output: Writable, options: OutboxOptions) {
    this.output = output
    this.options = options
    output.on("error", this.onError)
    output.on("close", this.onClose)
    if (output.destroyed || output.writableEnded) this.fail("the output was closed")
  }

  readonly send: Outbox["send"] = (texts) =>
    Effect.suspend(() => {
      if (this.closed !== undefined) return Effect.fail(this.closed)
      return this.sendNow(texts) ? Effect.void : this.waitForRoom(texts, bytesOf(texts))
    })

  readonly sendNow: Outbox["sendNow"] = (texts) => {
    if (this.closed !== undefined) return false
    if (texts.length === 0) return true
    const bytes = bytesOf(texts)
    if (this.senders.size > 0 || !this.fits(bytes)) return false
    this.accept(texts, bytes)
    return true
  }

  readonly flush: Outbox["flush"] = Effect.suspend(() => {
    if (this.closed !== undefined || this.written === this.accepted) return Effect.void
    return Effect.callback<void>((resume) => {
      const flusher = { upTo: this.accepted, resume }
      this.flushers.add(flusher)
      return Effect.sync(() => {
        this.flushers.delete(flusher)
      })
    })
  })

  readonly apart: Outbox["apart"] = Effect.andThen(
    this.flush,
    Effect.suspend(() => {
      const leftMs = this.writtenAtMs + this.options.apartMs - this.nowMs()
      return this.closed !== undefined || leftMs <= 0
        ? Effect.void
        : Effect.raceFirst(Effect.sleep(leftMs), this.untilClosed)
    }),
  )

  readonly limitStalls: Outbox["limitStalls"] = (maxStallMs) => {
    if (this.closed !== undefined || this.stallTimer !== undefined) return
    let seen = this.written
    let stalledChecks = 0
    const check = () => {
      stalledChecks = this.writing && this.written === seen ? stalledChecks + 1 : 0
      seen = this.written
      // The first check may come right after the write.
      if (stalledChecks > stallChecks) this.fail("the other side stopped reading")
    }
    this.stallTimer = setInterval(check, maxStallMs / stallChecks).unref()
  }

  readonly close: Outbox["close"] = (reason) => {
    if (this.closed !== undefined) return
    this.closed = new ConnectionClosed({ reason })
    clearInterval(this.stallTimer)
    this.output.removeListener("close", this.onClose)
    if (!this.writing && !this.errorPending) this.output.removeListener("error", this.onError)
    this.queue = []
    this.pendingBytes = 0
    const exit = Exit.fail(this.closed)
    for (const sender of this.senders) {
      this.senders.delete(sender)
      sender.resume(exit)
    }
    for (const flusher of this.flushers) {
      this.flushers.delete(flusher)
      flusher.resume(Exit.void)
    }
    for (const end of this.pauses) end()
  }

  private nowMs(): number {
    return Number(this.options.clock.currentTimeNanosUnsafe()) / 1e6
  }

  private fits(bytes: number): boolean {
    return this.pendingBytes === 0 || this.pendingBytes + bytes <= this.options.maxBytes
  }

  private accept(texts: ReadonlyArray<string>, bytes: number): void {
    for (const text of texts) this.queue.push(text)
    this.accepted += texts.length
    this.pendingBytes += bytes
    if (this.scheduled || this.writing) return
    this.scheduled = true
    // Everything that the fibers of this run of the scheduler send goes out in one write.
    queueMicrotask(this.write)
  }

  /** Waits until the texts are accepted, behind all senders that wait already. */
  private waitForRoom(
    texts: ReadonlyArray<string>,
    bytes: number,
  ): Effect.Effect<void, ConnectionClosed> {
    return Effect.callback<void, ConnectionClosed>((resume) => {
      const sender = { texts, bytes, resume }
      this.senders.add(sender)
      return Effect.sync(() => {
        // The next sender may have less to send, which fits.
        if (this.senders.delete(sender)) this.admitSenders()
      })
    })
  }

  private admitSenders(): void {
    for (const sender of this.senders) {
      if (!this.fits(sender.bytes)) return
      this.senders.delete(sender)
      this.accept(sender.texts, sender.bytes)
      sender.resume(Exit.void)
    }
  }

  private takeBatch(): ReadonlyArray<string> {
    const { queue } = this
    let count = 0
    for (let chars = 0; count < queue.length && chars < maxWriteChars; count++) {
      chars += queue[count]?.length ?? 0
    }
    const batch = count === queue.length ? queue : queue.slice(0, count)
    this.queue = queue.slice(count)
    return batch
  }

  private readonly write = (): void => {
    this.scheduled = false
    if (this.closed !== undefined || this.queue.length === 0) return
    const batch = this.takeBatch()
    const text = `${batch.join("\n")}\n`
    const bytes = this.queue.length === 0 ? this.pendingBytes : Buffer.byteLength(text)
    this.writing = true
    this.output.write(text, (error) => this.onWritten(batch.length, bytes, error))
  }

  private onWritten(count: number, bytes: number, error: Error | null | undefined): void {
    this.writing = false
    // An error event follows the error and would end the process without a listener; `onError` removes it then.
    this.errorPending = Boolean(error)
    if (this.closed !== undefined) {
      if (!this.errorPending) this.output.removeListener("error", this.onError)
      return
    }
    if (error) return this.fail(error.message)
    this.written += count
    this.writtenAtMs = this.nowMs()
    this.pendingBytes -= bytes
    for (const flusher of this.flushers) {
      if (flusher.upTo > this.written) continue
      this.flushers.delete(flusher)
      flusher.resume(Exit.void)
    }
    this.admitSenders()
    if (this.queue.length > 0 && !this.scheduled) this.write()
  }

  private fail(reason: string): void {
    if (this.closed !== undefined) return
    this.close(reason)
    this.options.onGone(reason)
  }

  private readonly onError = (error: Error): void => {
    if (this.closed === undefined) this.fail(error.message)
    else this.output.removeListener("error", this.onError)
  }

  private readonly onClose = (): void => this.fail("the output was closed")

  private get untilClosed(): Effect.Effect<void> {
    return Effect.callback<void>((resume) => {
      const end = () => resume(Effect.void)
      this.pauses.add(end)
      return Effect.sync(() => this.pauses.delete(end))
    })
  }
}

/** Starts writing to a stream. */
export const make = (output: Writable, options: OutboxOptions): Outbox =>
  new StreamOutbox(output, options)
