/**
 * Two connections that are joined in memory: each receives what the other sends. There is no stream, timer or real
 * time, so a test over it is deterministic; it is bounded, so backpressure is visible in a test (L6).
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

/** One end of the pair, with the controls of a test. */
export interface MemoryConnection extends Connection {
  /** Delivers a raw frame to the other side, in order with what is sent, such as an over-long line or invalid UTF-8. */
  readonly inject: (frame: Frame) => Effect.Effect<void, ConnectionClosed>
  /**
   * Closes this side's output: the other side's input ends after what was sent, and `send` fails from now on. What the
   * other side sends still arrives, as after closing the standard input of a process.
   */
  readonly close: Effect.Effect<void>
  /** Ends both directions, as when the process of this side is killed: `send` of the other side fails, too. */
  readonly drop: Effect.Effect<void>
}

type Pipe = Queue.Queue<Frame, Cause.Done>

/** Ends the pipe and discards its content, so that no sender waits for room. The ignored failure is the end itself. */
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
    // Accepted messages are already in the other side's input.
    flush: Effect.void,
    broken: Queue.await(out),
    inject: (frame) => offer([frame]),
    close: Effect.asVoid(Queue.end(out)),
    drop: Effect.andThen(Queue.end(out), discard(into)),
  }
}

/**
 * Creates the two ends; closing the scope ends both.
 *
 * @param capacity number of frames per direction before `send` waits
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
