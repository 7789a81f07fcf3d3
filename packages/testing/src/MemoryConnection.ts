/**
 * Two connections joined in memory: what one side sends the other receives. No stream, no timer, no real time, so a
 * test over it is deterministic; bounded, so backpressure shows in it (L6).
 */
import {
  type Connection,
  ConnectionClosed,
  type ConnectionPeer,
  type Frame,
  localPeer,
} from "@colloquy/protocol/Connection"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"

/** One end of the pair, with what a test can do to it. */
export interface MemoryConnection extends Connection {
  /** Gives the other side a raw frame, in order with what is sent: an over-long line, bytes that are not UTF-8. */
  readonly inject: (frame: Frame) => Effect.Effect<void, ConnectionClosed>
  /**
   * This side says nothing more: the other side's input ends after what was sent, `send` here fails from now on.
   * What the other side sends still arrives, as after the close of a standard input.
   */
  readonly close: Effect.Effect<void>
  /** This side is gone, as when its process dies: both directions end, the other side's `send` fails too. */
  readonly drop: Effect.Effect<void>
}

type Pipe = Queue.Queue<Frame, Cause.Done>

/** Ends the pipe and throws away what is in it, so that nobody waits for room. The failure ignored is the end. */
const discard = (pipe: Pipe): Effect.Effect<void> =>
  Effect.andThen(Queue.end(pipe), Effect.ignore(Effect.forever(Queue.takeAll(pipe))))

const side = (out: Pipe, into: Pipe, peer: ConnectionPeer): MemoryConnection => {
  const offer = (frames: ReadonlyArray<Frame>): Effect.Effect<void, ConnectionClosed> =>
    Effect.flatMap(Queue.offerAll(out, frames), (left) =>
      left.length === 0
        ? Effect.void
        : Effect.fail(new ConnectionClosed({ reason: "the connection in memory was closed" })),
    )
  return {
    peer,
    receive: Queue.takeAll(into),
    send: (texts) => offer(texts.map((text) => ({ _tag: "Text", text }))),
    // What was accepted lies in the other side's input already.
    flush: Effect.void,
    broken: Queue.await(out),
    inject: (frame) => offer([frame]),
    close: Effect.asVoid(Queue.end(out)),
    drop: Effect.andThen(Queue.end(out), discard(into)),
  }
}

/**
 * The two ends; the end of the scope drops both.
 *
 * @param capacity frames in flight per direction before `send` waits
 * @param peer what each end knows about the other
 */
export const memoryPair = (
  capacity = 16,
  peer: ConnectionPeer = localPeer,
): Effect.Effect<readonly [MemoryConnection, MemoryConnection], never, Scope.Scope> =>
  Effect.gen(function* () {
    const there: Pipe = yield* Queue.bounded<Frame, Cause.Done>(capacity)
    const back: Pipe = yield* Queue.bounded<Frame, Cause.Done>(capacity)
    yield* Effect.addFinalizer(() => Effect.andThen(discard(there), discard(back)))
    return [side(there, back, peer), side(back, there, peer)] as const
  })
