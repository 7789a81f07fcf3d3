/**
 * The reading side of a stream: bytes to frames, returned in batches, with a bound on what is read
 * ahead (L6).
 *
 *   reading ⇄ paused (too much unread)
 *      └── end, error or close of the stream, or `end` ──▶ ended (unread frames can still be received)
 *
 * One receiver at a time. However the stream ends, the frames read before can still be received; a
 * line that an error or a close cut off cannot.
 */
import type { Frame } from "@colloquy/protocol/Connection"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type { Readable } from "node:stream"
import type { Lines } from "../Lines.ts"

/** The frames of a stream. */
export interface Inbox {
  /** The next frames, at least one. Waits for them; ends after the last one. */
  readonly receive: Effect.Effect<ReadonlyArray<Frame>, Cause.Done>
  /**
   * Calls `callback` once, when nothing more will be read; immediately when that is already so.
   * `whole` is true when the stream reached its end and false when it broke off.
   */
  readonly whenEnded: (callback: (whole: boolean) => void) => void
  /** Ends the input after the frames read so far, and releases the stream, which is left paused. */
  readonly close: () => void
}

/** Approximate cost of a frame besides its bytes; keeps floods of tiny lines within the bound. */
const frameBytes = 64

class StreamInbox implements Inbox {
  private readonly input: Readable
  private readonly lines: Lines
  private readonly maxUnreadBytes: number
  private frames: Array<Frame> = []
  private unreadBytes = 0
  private ended = false
  private whole: boolean
  private onEnded: ((whole: boolean) => void) | undefined
  private readonly waiting = new Set<(effect: Effect.Effect<void>) => void>()

  constructor(input: Readable, lines: Lines, maxUnreadBytes: number) {
    this.input = input
    this.lines = lines
    this.maxUnreadBytes = maxUnreadBytes
    this.whole = input.readableEnded
    input.on("end", this.onEnd)
    input.on("close", this.close)
    input.on("error", this.close)
    if (input.destroyed || input.readableEnded) this.close()
    else input.on("data", this.onData)
  }

  readonly receive: Inbox["receive"] = Effect.suspend(() => {
    if (this.frames.length === 0) {
      return this.ended ? Cause.done() : Effect.andThen(this.wait, this.receive)
    }
    const batch = this.frames
    this.frames = []
    this.unreadBytes = 0
    if (!this.ended && this.input.isPaused()) this.input.resume()
    return Effect.succeed(batch)
  })

  readonly whenEnded: Inbox["whenEnded"] = (callback) => {
    this.onEnded = callback
    if (this.ended) callback(this.whole)
  }

  readonly close = (): void => {
    if (this.ended) return
    this.ended = true
    this.input.removeListener("data", this.onData)
    this.input.removeListener("end", this.onEnd)
    this.input.removeListener("close", this.close)
    this.input.removeListener("error", this.close)
    this.input.pause()
    while (this.waiting.size > 0) this.wake()
    this.onEnded?.(this.whole)
  }

  private readonly wait = Effect.callback<void>((resume) => {
    this.waiting.add(resume)
    return Effect.sync(() => {
      this.waiting.delete(resume)
    })
  })

  private readonly onData = (chunk: Buffer): void => {
    this.add(this.lines.push(chunk), chunk.length)
    if (this.unreadBytes > this.maxUnreadBytes) this.input.pause()
  }

  private readonly onEnd = (): void => {
    if (this.ended) return
    this.whole = true
    this.add(this.lines.end(), 0)
    this.close()
  }

  private add(next: ReadonlyArray<Frame>, bytes: number): void {
    if (next.length === 0) return
    for (const frame of next) this.frames.push(frame)
    this.unreadBytes += bytes + next.length * frameBytes
    this.wake()
  }

  private wake(): void {
    const [first] = this.waiting
    if (first === undefined) return
    this.waiting.delete(first)
    first(Effect.void)
  }
}

/**
 * Starts reading a stream.
 *
 * @param maxUnreadBytes the stream is paused while more than this has been read and not received
 */
export const make = (input: Readable, lines: Lines, maxUnreadBytes: number): Inbox =>
  new StreamInbox(input, lines, maxUnreadBytes)
