/**
 * Sends the messages of one round of the event loop in one packet. A packet costs each node several system calls and a switch
 * between processes, which is more than its messages cost.
 *
 * Nothing waits for further messages: a packet is sent at the end of the round in which its first message was written. While
 * the other side does not read, writers wait as they do without this.
 */
import * as Arr from "effect/Array"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as Socket from "effect/socket/Socket"

/** Longest wait for what is sent before a socket is closed: the other side may read nothing, or the connection be lost. */
const lastSendMs = 1000

const closed = new Socket.SocketError({
  reason: new Socket.SocketWriteError({ cause: new Error("the socket is closed") }),
})

class Batch {
  private readonly writer: Socket.Writer
  private chunks: Array<Uint8Array | string> = []
  /** The packet for which the other side has no room yet. */
  private sending: Fiber.Fiber<void, Socket.SocketError> | undefined
  private isClosed = false

  constructor(writer: Socket.Writer) {
    this.writer = writer
  }

  readonly write: Socket.Writer["write"] = (chunk) =>
    Effect.withFiber((fiber) => {
      if (this.isClosed) return Effect.fail(closed)
      if (Socket.isCloseEvent(chunk)) return Effect.andThen(this.flush, this.writer.write(chunk))
      const { sending } = this
      if (sending !== undefined) return Effect.andThen(this.sent(sending), this.write(chunk))
      this.chunks.push(chunk)
      if (this.chunks.length === 1) {
        fiber.currentDispatcher.scheduleTask(() => this.send(Effect.runForkWith(fiber.context)), 0)
      }
      return Effect.void
    })

  readonly writeAll: Socket.Writer["writeAll"] = (chunks) =>
    Effect.forEach(chunks, this.write, { discard: true })

  /**
   * Nothing is written any more from now on. Whoever waits for room fails: a lost connection never has any again, and what
   * waits for it may not be interruptible. Resolves when the last packet was sent, and in bounded time.
   */
  readonly close: Effect.Effect<void> = Effect.suspend(() => {
    this.isClosed = true
    // The socket has this packet already, or is lost.
    this.sending?.interruptUnsafe()
    // Whoever waits for an answer learns of the lost connection; only the log shows what was not sent before it.
    return Effect.timeout(this.flush, lastSendMs).pipe(Effect.catch(notSent))
  })

  /** Resolves when the packet was sent, or will never be. */
  private sent(
    sending: Fiber.Fiber<void, Socket.SocketError>,
  ): Effect.Effect<void, Socket.SocketError> {
    return Effect.flatMap(Fiber.await(sending), (exit) =>
      Exit.hasInterrupts(exit) ? Effect.void : exit,
    )
  }

  /** Sends what has not been sent. */
  private readonly flush: Effect.Effect<void, Socket.SocketError> = Effect.suspend(() => {
    const { chunks } = this
    this.chunks = []
    return Arr.isArrayNonEmpty(chunks) ? this.writer.writeAll(chunks) : Effect.void
  })

  private send(
    fork: (flush: Effect.Effect<void, Socket.SocketError>) => Fiber.Fiber<void, Socket.SocketError>,
  ): void {
    const fiber = fork(this.flush)
    if (fiber.pollUnsafe() !== undefined) return
    this.sending = fiber
    fiber.addObserver(() => void (this.sending = undefined))
  }
}

const notSent = (error: Socket.SocketError | Cause.TimeoutError): Effect.Effect<void> =>
  Effect.logDebug("the last packet of a connection between nodes was not sent", error)

/** The socket whose writes are batched. A packet that cannot be sent ends the socket, which its reader finds out. */
export const batched = (socket: Socket.Socket): Socket.Socket =>
  Socket.make({
    reader: socket.reader,
    writer: Effect.gen(function* () {
      const batch = new Batch(yield* socket.writer)
      yield* Scope.addFinalizer(yield* Effect.scope, batch.close)
      return batch
    }),
  })
