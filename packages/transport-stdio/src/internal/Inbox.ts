/**
 * The reading side of a stream: bytes to frames, handed out in batches, with a bound on what is read ahead (L6).
 *
 * One reader at a time. However the stream ends, the frames read before are still handed out; a line cut by an error
 * or by a close without end is not.
 */
import type { Frame } from "@colloquy/protocol/Connection"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type { Readable } from "node:stream"
import type { Lines } from "../Lines.ts"

export interface Inbox {
  readonly receive: Effect.Effect<ReadonlyArray<Frame>, Cause.Done>
  /**
   * Has `callback` called once, when nothing more will be read; at once when that is so. `whole`: the stream came to its
   * end, it did not break off.
   */
  readonly whenEnded: (callback: (whole: boolean) => void) => void
  /** Ends the input after the frames read so far and lets go of the stream, which is left paused. */
  readonly close: () => void
}

/** What a frame costs beside its bytes, about; keeps floods of tiny lines within the bound. */
const frameBytes = 64

/**
 * @param maxUnreadBytes the stream is paused while more than this is read and not yet received
 */
export const make = (input: Readable, lines: Lines, maxUnreadBytes: number): Inbox => {
  let frames: Array<Frame> = []
  let unreadBytes = 0
  let ended = false
  let whole = input.readableEnded
  let onEnded: ((whole: boolean) => void) | undefined
  const waiting = new Set<(effect: Effect.Effect<void>) => void>()

  const wake = () => {
    const [first] = waiting
    if (first === undefined) return
    waiting.delete(first)
    first(Effect.void)
  }

  const add = (next: ReadonlyArray<Frame>, bytes: number) => {
    if (next.length === 0) return
    for (const frame of next) frames.push(frame)
    unreadBytes += bytes + next.length * frameBytes
    wake()
  }

  const onData = (chunk: Buffer) => {
    add(lines.push(chunk), chunk.length)
    if (unreadBytes > maxUnreadBytes) input.pause()
  }
  const onEnd = () => {
    if (ended) return
    whole = true
    add(lines.end(), 0)
    close()
  }
  const close = () => {
    if (ended) return
    ended = true
    input.removeListener("data", onData)
    input.removeListener("end", onEnd)
    input.removeListener("close", close)
    input.removeListener("error", close)
    input.pause()
    while (waiting.size > 0) wake()
    onEnded?.(whole)
  }

  input.on("end", onEnd)
  input.on("close", close)
  input.on("error", close)
  if (input.destroyed || input.readableEnded) close()
  else input.on("data", onData)

  const wait = Effect.callback<void>((resume) => {
    waiting.add(resume)
    return Effect.sync(() => {
      waiting.delete(resume)
    })
  })

  const receive: Inbox["receive"] = Effect.suspend(() => {
    if (frames.length === 0) return ended ? Cause.done() : Effect.andThen(wait, receive)
    const batch = frames
    frames = []
    unreadBytes = 0
    if (!ended && input.isPaused()) input.resume()
    return Effect.succeed(batch)
  })

  return {
    receive,
    whenEnded: (callback) => {
      onEnded = callback
      if (ended) callback(whole)
    },
    close,
  }
}
