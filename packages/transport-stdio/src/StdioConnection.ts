/**
 * A connection over two byte streams, one text per line: what a process speaks on its standard input and output.
 *
 * Owns framing, bounds and the ends of the streams; knows no method. Keeps L6 (bounded both ways: a peer
 * that does not read slows its senders), L9 (frames only; end, close or error of the input ends it) and L13.
 */
import { type Connection, localPeer } from "@colloquy/protocol/Connection"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"
import type { Readable, Writable } from "node:stream"
import * as Inbox from "./internal/Inbox.ts"
import * as Outbox from "./internal/Outbox.ts"
import * as Lines from "./Lines.ts"

export interface StdioOptions {
  /** Left paused when the scope closes; never destroyed. */
  readonly input: Readable
  /** Never ended nor destroyed. */
  readonly output: Writable
  /** Longest incoming line; a longer one is discarded as it arrives and received as `TooLong`. Default 64 MiB. */
  readonly maxLineBytes?: number
  /** Name of the setting that gives `maxLineBytes`, for the error about a longer line. */
  readonly maxLineSetting?: string
  /** Reading pauses while more than this is read and not received; default 1 MiB, some 16 reads of a pipe. */
  readonly maxUnreadBytes?: number
  /** Senders wait while more than this is accepted and not written; default 4 MiB. One larger text passes alone. */
  readonly maxOutboxBytes?: number
  /**
   * How long after a write its reader is expected to have read it, for what must not arrive in the same chunk (`apart`).
   * Default 50 ms: on two busy cores 65 of 100 readers got both lines in one chunk after one turn of the event loop, 1 of
   * 400 after 5 ms and 1 of 100 that were busy themselves after 20 ms.
   */
  readonly apartMs?: number
  /**
   * After the input has ended, a reader that takes nothing for so long counts as gone: nothing it could still ask for
   * is worth an orphaned process (L9). Default 5 s. While the input is open it may take its time.
   */
  readonly maxStallMs?: number
}

/**
 * Joins the two streams into a connection for the length of the scope.
 *
 * Either stream's end is the end of both directions of hope, but not at once: after the input ended, answers can still
 * be sent and flushed; when the output is gone, `send` fails and `receive` ends after the frames already read.
 * Closing the scope waits for nothing: `flush` first.
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
      const outbox = Outbox.make(
        options.output,
        options.maxOutboxBytes ?? 4 * 1024 * 1024,
        options.apartMs ?? 50,
        clock,
        () => {
          broken.openUnsafe()
          inbox.close()
        },
      )
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
  ).pipe(
    Effect.map(({ broken, inbox, outbox }) => ({
      // Whoever can write to the standard streams of a process is the user who started it.
      peer: localPeer,
      receive: inbox.receive,
      send: outbox.send,
      flush: outbox.flush,
      apart: outbox.apart,
      broken: broken.await,
    })),
  )
