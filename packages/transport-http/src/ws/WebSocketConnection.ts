/**
 * A connection over an upgraded WebSocket: one JSON text per text frame.
 *
 *   open ── `drain` ─────────────▶ draining (input has ended, sending continues) ── `close` ──▶ closed
 *     └──── the client closes, the socket fails or does not answer pings ──▶ broken (every send fails)
 *
 * The WebSocket library joins fragments, answers pings, and closes with 1007 for invalid UTF-8 and 1009 for a message above
 * its limit (`serverOptions` of `WebSocketRoute.ts`). Owns the bounds of both directions (L6), pings and the close frame; knows no method.
 */
import {
  type Connection,
  ConnectionClosed,
  type ConnectionPeer,
  type Frame,
} from "@colloquy/protocol/Connection"
import type * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Socket from "effect/socket/Socket"
import type { Socket as TcpSocket } from "node:net"

/** Limits of a connection. */
export interface WebSocketOptions {
  /** What the server knows about the client. */
  readonly peer: ConnectionPeer
  /** Senders wait while more than this many bytes have been sent and not written. Default 4 MiB. */
  readonly maxOutboxBytes?: number
  /**
   * Time between two pings. A client from which nothing arrives between three pings, not even their answers, counts as gone.
   * Default 30 s, which is below the idle time after which common proxies close a connection (60 s).
   */
  readonly pingEvery?: Duration.Input
  /**
   * How long the client has at the end to read what was sent before, until the socket is destroyed. Default 5 s, which is what
   * slow readers have on the other transports.
   */
  readonly flushTimeout?: Duration.Input
  /** How long the client has to answer the close frame before the socket is destroyed. Default 2 s. */
  readonly closeTimeout?: Duration.Input
}

/** A connection that the server can end in good order. */
export interface WebSocketConnection extends Connection {
  /** Ends the input after the frames that were read; what is sent from now on is still delivered. */
  readonly drain: Effect.Effect<void>
  /**
   * Sends everything accepted before, then a close frame with this code, and resolves when the socket has ended. A client that
   * does not read, or does not answer the frame, has a limited time: then the socket is destroyed.
   */
  readonly close: (code: number, reason: string) => Effect.Effect<void>
}

/** The bytes of a ping frame without payload (RFC 6455, 5.5.2). The library's socket is not reachable through Effect. */
const pingFrame = Uint8Array.of(0x89, 0x00)

/** Pings without any byte in return after which the client counts as gone. */
const maxMissedPings = 2

const frameOf = (data: string | Uint8Array): Frame =>
  // Only texts are messages. A binary message is reported to the client and skipped, like a line that is no text (L13).
  typeof data === "string"
    ? { _tag: "Text", text: data }
    : { _tag: "NotUtf8", bytes: data.byteLength }

const closedByClient = new ConnectionClosed({ reason: "the WebSocket was closed" })

/** Resolves when all bytes written before were handed to the operating system, or the socket is gone. */
const written = (tcp: TcpSocket): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    if (tcp.destroyed || tcp.writableLength === 0) return resume(Effect.void)
    const done = () => {
      tcp.removeListener("close", done)
      resume(Effect.void)
    }
    tcp.once("close", done)
    // An empty write completes after those before it.
    tcp.write("", done)
    return Effect.sync(() => tcp.removeListener("close", done))
  })

/** Resolves when the socket is gone. */
const gone = (tcp: TcpSocket): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    const done = () => resume(Effect.void)
    if (tcp.closed) return done()
    tcp.once("close", done)
    return Effect.sync(() => tcp.removeListener("close", done))
  })

/** Sends pings, and destroys the socket of a client from which nothing arrives any more. */
const pinging = (tcp: TcpSocket, every: Duration.Input) => {
  let seenBytes = -1
  let missed = 0
  return Effect.forever(
    Effect.andThen(
      Effect.sleep(every),
      Effect.sync(() => {
        // While reading is paused, answers are not read either.
        missed = tcp.bytesRead === seenBytes && !tcp.isPaused() ? missed + 1 : 0
        seenBytes = tcp.bytesRead
        if (missed > maxMissedPings) tcp.destroy()
        // A client that reads nothing gets no further pings: they would only fill the outbox.
        else if (tcp.writableLength === 0) tcp.write(pingFrame)
      }),
    ),
  )
}

/** Writes texts at once; fails when the socket is closed. */
const makeWrite =
  ({ writeAll }: Socket.Writer, tcp: TcpSocket, isOpen: () => boolean) =>
  (texts: ReadonlyArray<string>): Effect.Effect<void, ConnectionClosed> =>
    Effect.suspend(() => {
      const [first, ...others] = texts
      if (!isOpen() || tcp.destroyed) return Effect.fail(closedByClient)
      return first === undefined
        ? Effect.void
        : Effect.mapError(writeAll([first, ...others]), () => closedByClient)
    })

/** Writes texts in order and bounds what is unsent. */
const makeSend = (
  write: ReturnType<typeof makeWrite>,
  tcp: TcpSocket,
  maxBytes: number,
): Connection["send"] => {
  const turns = Semaphore.makeUnsafe(1)
  let waiting = 0
  const oneByOne = (texts: ReadonlyArray<string>) =>
    Effect.forEach(
      texts,
      (text) =>
        Effect.andThen(
          Effect.suspend(() => (tcp.writableLength > maxBytes ? written(tcp) : Effect.void)),
          write([text]),
        ),
      { discard: true },
    )
  return (texts) =>
    Effect.suspend(() => {
      if (waiting === 0 && tcp.writableLength <= maxBytes) {
        let chars = 0
        for (const text of texts) chars += text.length
        if (texts.length === 1 || chars <= maxBytes) return write(texts)
      }
      waiting += 1
      return Effect.ensuring(
        turns.withPermit(oneByOne(texts)),
        Effect.sync(() => {
          waiting -= 1
        }),
      )
    })
}

/** Reads the socket into the queue, one batch ahead, until the socket ends. */
const reading = (
  pull: Socket.Reader["pull"],
  frames: Queue.Queue<ReadonlyArray<Frame>, Cause.Done>,
) =>
  Effect.forever(
    Effect.flatMap(pull, (batch) => Effect.asVoid(Queue.offer(frames, batch.map(frameOf)))),
  )

/** Waits, and destroys the socket when that takes too long. */
const orDestroy = (
  waiting: Effect.Effect<void>,
  tcp: TcpSocket,
  limit: Duration.Input,
): Effect.Effect<void> =>
  // A connection is closed in a finalizer, where nothing is interrupted by default; the limit must apply there as well.
  Effect.timeoutOrElse(Effect.interruptible(waiting), {
    duration: limit,
    orElse: () => Effect.sync(() => tcp.destroy()),
  })

/**
 * Accepts the upgrade and joins the WebSocket to a connection, until the scope closes.
 *
 * @param socket the upgraded socket of the request
 * @param tcp the socket of the same request: shows how much is unsent, and carries the pings
 */
export const make: (
  socket: Socket.Socket,
  tcp: TcpSocket,
  options: WebSocketOptions,
) => Effect.Effect<WebSocketConnection, Socket.SocketError, Scope.Scope> = Effect.fnUntraced(
  function* (socket, tcp, options) {
    const writer = yield* socket.writer
    const { pull } = yield* socket.reader
    const frames = yield* Queue.bounded<ReadonlyArray<Frame>, Cause.Done>(1)
    const broken = Latch.makeUnsafe(false)
    let open = true
    yield* reading(pull, frames).pipe(
      // However the socket ends, its frames were delivered and nothing more can be sent.
      Effect.ignore,
      Effect.ensuring(
        Effect.suspend(() => {
          open = false
          broken.openUnsafe()
          return Queue.end(frames)
        }),
      ),
      Effect.forkScoped({ startImmediately: true }),
    )
    yield* Effect.forkScoped(pinging(tcp, options.pingEvery ?? "30 seconds"))
    const maxBytes = options.maxOutboxBytes ?? 4 * 1024 * 1024
    const connection: WebSocketConnection = {
      peer: options.peer,
      receive: Queue.take(frames),
      send: makeSend(
        makeWrite(writer, tcp, () => open),
        tcp,
        maxBytes,
      ),
      flush: Effect.suspend(() => (open ? written(tcp) : Effect.void)),
      broken: broken.await,
      drain: Effect.asVoid(Queue.end(frames)),
      close: (code, reason) =>
        Effect.suspend(() => {
          open = false
          return orDestroy(written(tcp), tcp, options.flushTimeout ?? "5 seconds").pipe(
            // A frame that the library has sent for a fault of the client stays the only one.
            Effect.andThen(writer.write(new Socket.CloseEvent(code, reason))),
            // The socket is gone, and with it the reader of the code.
            Effect.ignore,
            Effect.andThen(orDestroy(gone(tcp), tcp, options.closeTimeout ?? "2 seconds")),
          )
        }),
    }
    return connection
  },
)
