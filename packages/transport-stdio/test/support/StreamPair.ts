/**
 * Two connections joined by byte streams in this process: `memoryPair` of `packages/testing`, with
 * the stdio transport at both ends. Uses no file descriptor and no timer: the streams advance by
 * ticks, between two runs of the scheduler, so a test over it is as deterministic as one in memory.
 *
 * It is in this package because only transports may import `node:`, including in their tests.
 */
import { type Connection, ConnectionClosed, type Frame } from "@colloquy/protocol/Connection"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { Transform } from "node:stream"
import * as StdioConnection from "../../src/StdioConnection.ts"

/** One end of the pair, with the controls of a test. */
export interface StreamEnd extends Connection {
  /** Writes a line that the other end receives as this frame, in order with what is sent. */
  readonly inject: (frame: Frame) => Effect.Effect<void>
  /**
   * Ends the stream to the other end, after what was sent. What the other end sends still arrives.
   */
  readonly close: Effect.Effect<void>
  /**
   * Both streams lose this end, as when its process dies: what it wrote is still read, and nothing
   * is written to it.
   */
  readonly drop: Effect.Effect<void>
}

/** Approximate length of the messages of the tests. */
const bytesPerFrame = 512

/** Passes every chunk on in two pieces, so that lines and characters are cut. */
const pipe = (highWaterMark: number) =>
  new Transform({
    highWaterMark,
    // Like a pipe of the operating system: the end of one direction leaves the other open.
    autoDestroy: false,
    transform(chunk: Buffer, _encoding, done) {
      const middle = chunk.length >> 1
      if (middle > 0) this.push(chunk.subarray(0, middle))
      done(null, chunk.subarray(middle))
    },
  })

/** Smaller than the default, so that a test exceeds it quickly. */
const maxLineBytes = 16 * 1024 * 1024

const lineOf = (frame: Frame): Buffer => {
  switch (frame._tag) {
    case "Text":
      return Buffer.from(`${frame.text}\n`)
    case "TooLong":
      return Buffer.concat([Buffer.alloc(frame.bytes, "x"), Buffer.from("\n")])
    case "NotUtf8":
      return Buffer.concat([Buffer.alloc(frame.bytes, 0xff), Buffer.from("\n")])
  }
}

const side = Effect.fnUntraced(function* (out: Transform, into: Transform, maxBytes: number) {
  const connection = yield* StdioConnection.make({
    input: into,
    output: out,
    maxLineBytes,
    maxUnreadBytes: maxBytes,
    maxOutboxBytes: maxBytes,
    // A separate write, without a timer.
    apartMs: 0,
  })
  let closed = false
  const end: StreamEnd = {
    ...connection,
    send: (texts) =>
      Effect.suspend(() =>
        closed
          ? Effect.fail(new ConnectionClosed({ reason: "the stream was ended on this side" }))
          : connection.send(texts),
      ),
    inject: (frame) =>
      Effect.andThen(
        connection.flush,
        Effect.callback<void>((resume) => {
          out.write(lineOf(frame), () => resume(Effect.void))
        }),
      ),
    close: Effect.suspend(() => {
      closed = true
      return Effect.andThen(
        connection.flush,
        Effect.sync(() => out.end()),
      )
    }),
    drop: Effect.sync(() => {
      closed = true
      out.end()
      into.destroy()
    }),
  }
  return end
})

/**
 * Creates the two ends. The end of the scope destroys both streams.
 *
 * @param capacity approximate number of messages that outbox, stream and inbox each hold per
 * direction before `send` waits
 */
export const streamPair = (
  capacity = 16,
): Effect.Effect<readonly [StreamEnd, StreamEnd], never, Scope.Scope> =>
  Effect.gen(function* () {
    const maxBytes = capacity * bytesPerFrame
    const there = pipe(maxBytes)
    const back = pipe(maxBytes)
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        there.destroy()
        back.destroy()
      }),
    )
    return [yield* side(there, back, maxBytes), yield* side(back, there, maxBytes)] as const
  })
