/**
 * The one writer of a stream: a queue of texts bounded in bytes, written in batches, one write at a time.
 *
 * Whoever sends more than fits waits, first come first served, and is told when the stream is gone. A text is written
 * whole or not at all. Plain callbacks: a message costs no fiber (L6, L9).
 */
import { ConnectionClosed } from "@colloquy/protocol/Connection"
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Writable } from "node:stream"

export interface Outbox {
  readonly send: (texts: ReadonlyArray<string>) => Effect.Effect<void, ConnectionClosed>
  /** Returns when all that was accepted before has been handed to the system, or the stream is gone. */
  readonly flush: Effect.Effect<void>
  /** Returns when all that was accepted before was written `apartMs` ago, or the stream is gone. */
  readonly apart: Effect.Effect<void>
  /** From now on a reader that takes nothing for `maxStallMs` counts as gone. */
  readonly limitStalls: (maxStallMs: number) => void
  /** Fails all senders from now on, drops what was accepted but not written, and lets go of the stream. */
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

/** Characters written at once, about: the system's buffers are smaller, and each write that ends shows a living reader. */
const maxWriteChars = 256 * 1024

/** How often a stall is looked for. */
const stallChecks = 5

const bytesOf = (texts: ReadonlyArray<string>) => {
  let bytes = 0
  for (const text of texts) bytes += Buffer.byteLength(text) + 1
  return bytes
}

/**
 * @param maxBytes accepted and not yet written; a single larger text passes when nothing else is waiting
 * @param apartMs how long after a write the reader has read it
 * @param clock measures that time, which passes on a virtual clock as well
 * @param onGone called once, when the stream fails or closes on its own
 */
export const make = (
  output: Writable,
  maxBytes: number,
  apartMs: number,
  clock: Clock.Clock,
  onGone: (reason: string) => void,
): Outbox => {
  let queue: Array<string> = []
  let pendingBytes = 0
  let accepted = 0
  let written = 0
  let writing = false
  let scheduled = false
  let erring = false
  const nowMs = () => Number(clock.currentTimeNanosUnsafe()) / 1e6
  let writtenAtMs = Number.NEGATIVE_INFINITY
  let closed: ConnectionClosed | undefined
  let stallTimer: NodeJS.Timeout | undefined
  const senders = new Set<Sender>()
  const flushers = new Set<Flusher>()
  /** Ends a wait of `apart` early. */
  const pauses = new Set<() => void>()

  const fits = (bytes: number) => pendingBytes === 0 || pendingBytes + bytes <= maxBytes

  const accept = (texts: ReadonlyArray<string>, bytes: number) => {
    for (const text of texts) queue.push(text)
    accepted += texts.length
    pendingBytes += bytes
    if (scheduled || writing) return
    scheduled = true
    // Everything that the fibers of this run of the scheduler send goes out in one write.
    queueMicrotask(write)
  }

  const admit = () => {
    for (const sender of senders) {
      if (!fits(sender.bytes)) return
      senders.delete(sender)
      accept(sender.texts, sender.bytes)
      sender.resume(Exit.void)
    }
  }

  const takeBatch = () => {
    let count = 0
    for (let chars = 0; count < queue.length && chars < maxWriteChars; count++) {
      chars += queue[count]?.length ?? 0
    }
    const batch = count === queue.length ? queue : queue.slice(0, count)
    queue = queue.slice(count)
    return batch
  }

  const write = () => {
    scheduled = false
    if (closed !== undefined || queue.length === 0) return
    const batch = takeBatch()
    const text = `${batch.join("\n")}\n`
    const bytes = queue.length === 0 ? pendingBytes : Buffer.byteLength(text)
    writing = true
    output.write(text, (error) => {
      writing = false
      // After an error the event follows, and would end the process if nobody listened: `onError` lets go then.
      erring = Boolean(error)
      if (closed !== undefined) {
        if (!erring) output.removeListener("error", onError)
        return
      }
      if (error) return fail(error.message)
      written += batch.length
      writtenAtMs = nowMs()
      pendingBytes -= bytes
      for (const flusher of flushers) {
        if (flusher.upTo > written) continue
        flushers.delete(flusher)
        flusher.resume(Exit.void)
      }
      admit()
      if (queue.length > 0 && !scheduled) write()
    })
  }

  const close = (reason: string) => {
    if (closed !== undefined) return
    closed = new ConnectionClosed({ reason })
    clearInterval(stallTimer)
    output.removeListener("close", onClose)
    if (!writing && !erring) output.removeListener("error", onError)
    queue = []
    pendingBytes = 0
    const exit = Exit.fail(closed)
    for (const sender of senders) {
      senders.delete(sender)
      sender.resume(exit)
    }
    for (const flusher of flushers) {
      flushers.delete(flusher)
      flusher.resume(Exit.void)
    }
    for (const end of pauses) end()
  }

  const fail = (reason: string) => {
    if (closed !== undefined) return
    close(reason)
    onGone(reason)
  }
  const limitStalls = (maxStallMs: number) => {
    if (closed !== undefined || stallTimer !== undefined) return
    let seen = written
    let stalled = 0
    const check = () => {
      stalled = writing && written === seen ? stalled + 1 : 0
      seen = written
      // The first check may come right after the write.
      if (stalled > stallChecks) fail("the other side stopped reading")
    }
    stallTimer = setInterval(check, maxStallMs / stallChecks).unref()
  }
  const onError = (error: Error) => {
    if (closed === undefined) fail(error.message)
    else output.removeListener("error", onError)
  }
  const onClose = () => fail("the output was closed")
  const flush: Outbox["flush"] = Effect.suspend(() => {
    if (closed !== undefined || written === accepted) return Effect.void
    return Effect.callback<void>((resume) => {
      const flusher = { upTo: accepted, resume }
      flushers.add(flusher)
      return Effect.sync(() => {
        flushers.delete(flusher)
      })
    })
  })
  const untilClosed = Effect.callback<void>((resume) => {
    const end = () => resume(Effect.void)
    pauses.add(end)
    return Effect.sync(() => pauses.delete(end))
  })
  output.on("error", onError)
  output.on("close", onClose)
  if (output.destroyed || output.writableEnded) fail("the output was closed")

  return {
    send: (texts) =>
      Effect.suspend(() => {
        if (closed !== undefined) return Effect.fail(closed)
        if (texts.length === 0) return Effect.void
        const bytes = bytesOf(texts)
        if (senders.size === 0 && fits(bytes)) {
          accept(texts, bytes)
          return Effect.void
        }
        return Effect.callback<void, ConnectionClosed>((resume) => {
          const sender = { texts, bytes, resume }
          senders.add(sender)
          return Effect.sync(() => {
            // The one behind may be smaller and fit.
            if (senders.delete(sender)) admit()
          })
        })
      }),
    flush,
    apart: Effect.andThen(
      flush,
      Effect.suspend(() => {
        const leftMs = writtenAtMs + apartMs - nowMs()
        return closed !== undefined || leftMs <= 0
          ? Effect.void
          : Effect.raceFirst(Effect.sleep(leftMs), untilClosed)
      }),
    ),
    limitStalls,
    close,
  }
}
