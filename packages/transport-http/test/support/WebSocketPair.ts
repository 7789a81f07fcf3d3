/**
 * Two connections joined by a WebSocket on the loopback interface: `memoryPair` of `packages/testing`, through the route of
 * this package and a real server. The end of the client's input is that of a server that shuts down: a WebSocket has no other
 * one, because closing it ends both directions.
 *
 * It is in this package because only transports may import `node:`, including in their tests.
 */
import type { Connection, Frame } from "@colloquy/protocol/Connection"
import { ConnectionClosed } from "@colloquy/protocol/Connection"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { WebSocket } from "@effect/platform-node/NodeWS"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Socket from "effect/socket/Socket"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import * as WebSocketRoute from "../../src/ws/WebSocketRoute.ts"

/** The client's end, with the controls of a test. */
export interface WebSocketEnd extends Connection {
  /** Sends a message that the other end receives as this frame, in order with what is sent. */
  readonly inject: (frame: Frame) => Effect.Effect<void, ConnectionClosed>
  /** Ends the input of the other end, after what was sent. What the other end sends still arrives. */
  readonly close: Effect.Effect<void>
  /** The socket loses this end, as when its process dies. */
  readonly drop: Effect.Effect<void>
}

/** Approximate length of the messages of the tests. */
const bytesPerFrame = 512

const gone = new ConnectionClosed({ reason: "the WebSocket was closed" })

const bytesOf = (frame: Frame): string | Buffer => {
  switch (frame._tag) {
    case "Text":
      return frame.text
    case "TooLong":
      return "x".repeat(frame.bytes)
    case "NotUtf8":
      return Buffer.alloc(frame.bytes, 0xff)
  }
}

/** Serves one WebSocket and resolves with its address, and with its connection once a client is there. */
const listening = Effect.fnUntraced(function* (maxBytes: number) {
  const connected = yield* Deferred.make<Connection>()
  const draining = Latch.makeUnsafe(false)
  const node = createServer()
  const server = yield* NodeHttpServer.make(() => node, {
    port: 0,
    host: "127.0.0.1",
    disablePreemptiveShutdown: true,
    websocket: WebSocketRoute.serverOptions(),
  })
  yield* server.serve(
    WebSocketRoute.handle(
      "local",
      (connection) => Effect.andThen(Deferred.succeed(connected, connection), Effect.never),
      // The pings of virtual hours come at once, and no answer can come between them.
      { draining: draining.await, maxOutboxBytes: maxBytes, pingEvery: Duration.infinity },
    ),
  )
  const { port } = node.address() as AddressInfo
  return { url: `ws://127.0.0.1:${port}/ws`, connected: Deferred.await(connected), draining }
})

/**
 * The server's end as the tests need it: it counts the frames that are received, so that the end of the input comes after
 * them, and a sender waits for the permits that the client returns when it reads. The buffers of the operating system alone
 * hold more than any of these tests sends.
 */
const counted = (
  connection: Connection,
  count: () => void,
  unread: Semaphore.Semaphore,
  maxUnread: number,
): Connection => ({
  ...connection,
  send: (texts, options) =>
    unread
      .take(Math.min(texts.length, maxUnread))
      .pipe(
        Effect.raceFirst(connection.broken ?? Effect.never),
        Effect.andThen(connection.send(texts, options)),
      ),
  receive: Effect.tap(connection.receive, (frames) =>
    Effect.sync(() => {
      for (const _ of frames) count()
    }),
  ),
})

/** Connects a client to a server of its own. The end of the scope ends both. */
export const webSocketPair: (
  capacity?: number,
) => Effect.Effect<readonly [WebSocketEnd, Connection], never, Scope.Scope> = Effect.fnUntraced(
  function* (capacity = 16) {
    const maxBytes = capacity * bytesPerFrame
    const { connected, draining, url } = yield* Effect.orDie(listening(maxBytes))
    const raw = new WebSocket(url, { perMessageDeflate: false })
    yield* Effect.addFinalizer(() => Effect.sync(() => raw.terminate()))
    const socket = yield* Socket.fromWebSocket(Effect.succeed(raw), { highWaterMark: maxBytes })
    const { pull } = yield* Effect.orDie(socket.reader)
    // As many as the outbox, the stream and the inbox of the other pairs hold together.
    const maxUnread = 3 * capacity
    const unread = Semaphore.makeUnsafe(maxUnread)
    let sent = 0
    let received = 0
    let closed = false
    const post = (frame: Frame) =>
      Effect.callback<void, ConnectionClosed>((resume) => {
        if (closed) return resume(Effect.fail(gone))
        sent += 1
        raw.send(bytesOf(frame), (error) => resume(error ? Effect.fail(gone) : Effect.void))
      })
    const allReceived: Effect.Effect<void> = Effect.suspend(() =>
      received >= sent ? Effect.void : Effect.andThen(Effect.yieldNow, allReceived),
    )
    const end: WebSocketEnd = {
      peer: { principal: "local" },
      receive: pull.pipe(
        Effect.catch(() => Cause.done()),
        Effect.map((batch) => batch.map((text): Frame => ({ _tag: "Text", text: String(text) }))),
        Effect.tap((frames) => unread.release(Math.min(frames.length, maxUnread))),
      ),
      send: (texts) =>
        Effect.forEach(texts, (text) => post({ _tag: "Text", text }), { discard: true }),
      flush: Effect.void,
      inject: post,
      close: Effect.suspend(() => {
        closed = true
        return Effect.andThen(allReceived, draining.open)
      }),
      drop: Effect.sync(() => {
        closed = true
        raw.terminate()
      }),
    }
    const count = () => {
      received += 1
    }
    const served = counted(yield* connected, count, unread, maxUnread)
    return [end, served] as const
  },
)
