/**
 * A connection over two byte streams with one text per line, as processes use on standard input and
 * output.
 *
 * Owns framing, limits and the end of the streams; knows no method. Keeps L6 (bounded in both
 * directions: a peer that does not read slows its senders), L9 (frames only; end, close or error of
 * the input ends it) and L13.
 */
import { type Connection, localPeer } from "@colloquy/protocol/Connection"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"
import type { Readable, Writable } from "node:stream"
import * as Inbox from "./internal/Inbox.ts"
import * as Outbox from "./internal/Outbox.ts"
import * as Lines from "./Lines.ts"

/** The streams and limits of a connection. */
export interface StdioOptions {
  /** Paused when the scope closes; never destroyed. */
  readonly input: Readable
  /** Never ended or destroyed. */
  readonly output: Writable
  /**
   * Longest incoming line in bytes. A longer one is discarded as it arrives and received as a
   * `TooLong` frame. Default 64 MiB.
   */
  readonly maxLineBytes?: number
  /** Name of the setting that determines `maxLineBytes`, for the error about a longer line. */
  readonly maxLineSetting?: string
  /**
   * Reading pauses while more than this has been read and not received. Default 1 MiB, about 16
   * reads of a pipe.
   */
  readonly maxUnreadBytes?: number
  /**
   * Senders wait while more than this has been accepted and not written. Default 4 MiB. A single
   * larger text is sent alone.
   */
  readonly maxOutboxBytes?: number
  /**
   * How long after a write the reader is expected to have read it, for texts that must not arrive
   * in the same chunk as earlier ones (`apart`). Default 50 ms. Measured on two busy cores: 65 of
   * 100 readers got both lines in one chunk after one turn of the event loop, 1 of 400 after 5 ms,
   * and 1 of 100 readers that were busy themselves after 20 ms.
   */
  readonly apartMs?: number
  /**
   * After the input has ended, a reader that takes nothing for this long counts as gone: nothing
   * that it could still want is worth an orphaned process (L9). Default 5 s. While the input is
   * open there is no limit.
   */
  readonly maxStallMs?: number
}

interface Joined {
  readonly inbox: Inbox.Inbox
  readonly outbox: Outbox.Outbox
  readonly broken: Latch.Latch
}

const connectionOf = ({ broken, inbox, outbox }: Joined): Connection => ({
  // Only the user who started a process can write to its standard streams.
  peer: localPeer,
  receive: inbox.receive,
  send: outbox.send,
  sendNow: outbox.sendNow,
  flush: outbox.flush,
  apart: outbox.apart,
  broken: broken.await,
})

/**
 * Joins the two streams to a connection, until the scope closes.
 *
 * The end of the input does not end sending: responses can still be sent and flushed. When the
 * output is gone, `send` fails and `receive` ends after the frames that were already read. Closing
 * the scope waits for nothing: call `flush` before.
 */
export const make = (options: StdioOptions): Effect.Effect<Connection, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.map(Effect.clockWith(Effect.succeed), (clock) => {
      const inbox = Inbox.make(
        options.input,
        Lines.make(options.maxLineBytes, options.maxLineSetting),
        options.maxUnreadBytes ?? 1024 * 1024,
      )
      const broken = Latch.makeUnsafe(false)
      const outbox = Outbox.make(options.output, {
        maxBytes: options.maxOutboxBytes ?? 4 * 1024 * 1024,
        apartMs: options.apartMs ?? 50,
        clock,
        onGone: () => {
          broken.openUnsafe()
          inbox.close()
        },
      })
      inbox.whenEnded((whole) => {
        if (!whole) broken.openUnsafe()
        outbox.limitStalls(options.maxStallMs ?? 5000)
      })
      return { inbox, outbox, broken }
    }),
    ({ inbox, outbox }) =>
      Effect.sync(() => {
        inbox.close()
        outbox.close("the connection was closed on this side")
      }),
  ).pipe(Effect.map(connectionOf))
