import type { Connection } from "@colloquy/protocol/Connection"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { WebSocket } from "@effect/platform-node/NodeWS"
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"
import { createServer } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { CredentialEnd } from "../../src/guard/CredentialEnd.ts"
import * as WebSocketRoute from "../../src/ws/WebSocketRoute.ts"

/** Sends back what it receives, as JSON. */
const echo = (connection: Connection) =>
  connection.receive.pipe(
    Effect.flatMap((frames) => connection.send(frames.map((frame) => JSON.stringify(frame)))),
    Effect.forever,
    Effect.ignore,
  )

/** Sends this many times a mebibyte once it has received something: more than the buffers of the operating system hold. */
const manyMebibytes = 24

/** What is sent is accepted at once, whether the client reads it or not. */
const flooding = (connection: Connection) => {
  const text = "x".repeat(1024 * 1024)
  return connection.receive.pipe(
    Effect.andThen(connection.send(Array.from({ length: manyMebibytes }, () => text))),
    Effect.ignore,
  )
}

/** Limits with which a test waits for no client, and its server accepts everything that it sends. */
const impatient = {
  maxOutboxBytes: 2 * manyMebibytes * 1024 * 1024,
  flushTimeout: Duration.millis(100),
  closeTimeout: Duration.millis(100),
}

interface Served {
  readonly port: number
  /** Resolves when all connections have ended. No further one is accepted. */
  readonly allEnded: Effect.Effect<void>
  readonly connect: (options?: WebSocketClientOptions) => Effect.Effect<Client, never, Scope.Scope>
}

interface WebSocketClientOptions {
  /** False: the client answers no ping. */
  readonly autoPong?: boolean
}

interface Client {
  readonly raw: WebSocket
  readonly texts: ReadonlyArray<string>
  /** Resolves when so many texts have arrived. */
  readonly until: (count: number) => Effect.Effect<void>
  /** Resolves with the close code and the number of texts that arrived before it. */
  readonly closed: Effect.Effect<readonly [code: number, reason: string, texts: number]>
}

const client = Effect.fnUntraced(function* (port: number, options: WebSocketClientOptions = {}) {
  const raw = new WebSocket(`ws://127.0.0.1:${port}/ws`, options)
  yield* Effect.addFinalizer(() => Effect.sync(() => raw.terminate()))
  const texts: Array<string> = []
  let end: readonly [number, string, number] | undefined
  const wakers = new Set<() => void>()
  const wake = () => {
    for (const waker of wakers) waker()
  }
  raw.addEventListener("message", ({ data }) => {
    if (typeof data === "string") texts.push(data)
    wake()
  })
  raw.on("close", (code, reason) => {
    end = [code, String(reason), texts.length]
    wake()
  })
  raw.on("error", () => undefined)
  const when = <A>(is: () => A | undefined): Effect.Effect<A> =>
    Effect.callback((resume) => {
      const look = () => {
        const found = is()
        if (found === undefined) return
        wakers.delete(look)
        resume(Effect.succeed(found))
      }
      wakers.add(look)
      look()
    })
  yield* Effect.callback<void>((resume) => {
    raw.once("open", () => resume(Effect.void))
  })
  const made: Client = {
    raw,
    texts,
    until: (count) => Effect.asVoid(when(() => (texts.length >= count ? true : undefined))),
    closed: when(() => end),
  }
  return made
})

/** A server on the loopback interface whose route serves with that program. */
const serving = Effect.fnUntraced(function* (
  serve: (connection: Connection) => Effect.Effect<void>,
  options: WebSocketRoute.WebSocketRouteOptions & { readonly maxMessageBytes?: number } = {},
) {
  const node = createServer()
  const server = yield* NodeHttpServer.make(() => node, {
    port: 0,
    host: "127.0.0.1",
    disablePreemptiveShutdown: true,
    websocket: WebSocketRoute.serverOptions(options.maxMessageBytes),
  })
  yield* server.serve(WebSocketRoute.handle("local", serve, options))
  const { port } = node.address() as AddressInfo
  const allEnded = Effect.callback<void>((resume) => {
    node.close(() => resume(Effect.void))
  })
  const served: Served = { port, allEnded, connect: (more) => client(port, more) }
  return served
})

describe("WebSocketRoute", () => {
  it.live("a text frame is a message, fragments are joined, a ping is answered", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { connect } = yield* serving(echo)
        const { raw, texts, until } = yield* connect()
        const ponged = Latch.makeUnsafe(false)
        raw.on("pong", () => ponged.openUnsafe())
        raw.ping()
        raw.send("one")
        raw.send("tw", { fin: false })
        raw.send("o", { fin: true })
        raw.send("three\n")
        yield* until(3)
        yield* ponged.await
        assert.deepStrictEqual(
          texts.map((text) => JSON.parse(text).text),
          ["one", "two", "three\n"],
        )
      }),
    ),
  )

  it.live("L13 a binary frame is a fault, and the connection continues", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { connect } = yield* serving(echo)
        const { raw, texts, until } = yield* connect()
        raw.send(Buffer.from([1, 2, 3]))
        raw.send("text")
        yield* until(2)
        assert.deepStrictEqual(
          texts.map((text) => JSON.parse(text)),
          [
            { _tag: "NotUtf8", bytes: 3 },
            { _tag: "Text", text: "text" },
          ],
        )
      }),
    ),
  )

  it.live.each([
    [1007, "that is not UTF-8", [Buffer.from([0x22, 0xff, 0x22])]],
    [1009, "above the limit", [Buffer.alloc(2000, "x")]],
    [
      1009,
      "above the limit in fragments",
      Array.from({ length: 20 }, () => Buffer.alloc(100, "x")),
    ],
  ] as const)("L13 closes with %s for a text %s, and serves the others", ([code, , parts]) =>
    Effect.scoped(
      Effect.gen(function* () {
        const { connect } = yield* serving(echo, { maxMessageBytes: 1000 })
        const other = yield* connect()
        const { closed, raw } = yield* connect()
        for (const [i, part] of parts.entries())
          raw.send(part, { binary: false, fin: i === parts.length - 1 })
        assert.strictEqual((yield* closed)[0], code)
        other.raw.send("still there")
        yield* other.until(1)
      }),
    ),
  )

  it.live("a request that is no upgrade gets 426", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { port } = yield* serving(echo)
        const response = yield* Effect.promise(() => fetch(`http://127.0.0.1:${port}/ws`))
        assert.strictEqual(response.status, 426)
        assert.strictEqual(response.headers.get("upgrade"), "websocket")
        assert.strictEqual(response.headers.get("connection"), "close, upgrade")
      }),
    ),
  )

  it.live("an upgrade with a wrong version gets 426 or 400 and no connection", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { port } = yield* serving(echo)
        const head = yield* Effect.callback<string>((resume) => {
          const socket = connect(port, "127.0.0.1")
          socket.once("data", (data) => {
            socket.destroy()
            resume(Effect.succeed(String(data).split("\r\n")[0] ?? ""))
          })
          socket.write(
            "GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 7\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
          )
        })
        assert.match(head, /^HTTP\/1\.1 4(00|26)/)
      }),
    ),
  )

  it.live("L9 a drain ends the input, delivers the last event and then closes with 1001", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const draining = Latch.makeUnsafe(false)
        const serve = (connection: Connection) =>
          Effect.andThen(echo(connection), Effect.ignore(connection.send(["the last event"])))
        const server = yield* serving(serve, { draining: draining.await })
        const { closed, raw, texts, until } = yield* server.connect()
        raw.send("hi")
        yield* until(1)
        yield* draining.open
        assert.deepStrictEqual(yield* closed, [1001, "the server shuts down", 2])
        assert.strictEqual(texts[1], "the last event")
      }),
    ),
  )

  it.live("a connection is closed with 1008 when its token is not valid any more", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const end = Latch.makeUnsafe(false)
        const { connect } = yield* Effect.provideService(serving(echo), CredentialEnd, end.await)
        const { closed, raw, until } = yield* connect()
        raw.send("one")
        yield* until(1)
        yield* end.open
        assert.deepStrictEqual(yield* closed, [1008, "the token is not valid any more", 1])
      }),
    ),
  )

  it.live("closes with 1011 when serving fails, and does not end the server", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const server = yield* serving((connection) =>
          Effect.andThen(Effect.ignore(connection.receive), Effect.die("broken")),
        )
        for (let i = 0; i < 2; i++) {
          const { closed, raw } = yield* server.connect()
          raw.send("hi")
          assert.strictEqual((yield* closed)[0], 1011)
        }
      }),
    ),
  )

  it.live("a connection ends when its client is gone", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const ended = Latch.makeUnsafe(false)
        const { connect } = yield* serving((connection) =>
          Effect.ensuring(echo(connection), ended.open),
        )
        const { raw } = yield* connect()
        raw.terminate()
        yield* ended.await
      }),
    ),
  )

  it.live(
    "L6 a client that stops reading makes its sender wait, delays no other and loses nothing",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const count = 2000
          const padding = "x".repeat(32 * 1024)
          let accepted = 0
          const flood = (connection: Connection) =>
            Effect.gen(function* () {
              yield* connection.receive
              for (let i = 0; i < count; i++) {
                yield* connection.send([`${i} ${padding}`])
                accepted += 1
              }
              yield* connection.flush
            }).pipe(Effect.ignore)
          const { connect } = yield* serving(flood, { maxOutboxBytes: 256 * 1024 })
          const stopped = yield* connect()
          stopped.raw.pause()
          stopped.raw.send("go")
          yield* Effect.sleep(Duration.millis(500))
          const before = accepted
          // What the buffers of the operating system hold is accepted as well.
          assert.isBelow(before, count / 2)
          stopped.raw.resume()
          yield* stopped.until(count)
          assert.deepStrictEqual(
            stopped.texts.map((text) => Number.parseInt(text, 10)),
            Array.from({ length: count }, (_, i) => i),
          )
        }),
      ),
  )

  it.live.each(["draining", "credentials", "failure", "tooLarge", "pings"] as const)(
    "L6 a client that reads nothing does not delay the end of its connection: %s",
    (reason) =>
      Effect.scoped(
        Effect.gen(function* () {
          const draining = Latch.makeUnsafe(false)
          const end = Latch.makeUnsafe(false)
          const sent = Latch.makeUnsafe(false)
          const serve = (connection: Connection) =>
            flooding(connection).pipe(
              Effect.andThen(sent.open),
              Effect.andThen(reason === "failure" ? Effect.die("broken") : connection.receive),
              Effect.ignore,
            )
          const served = serving(serve, {
            ...impatient,
            draining: draining.await,
            maxMessageBytes: 1000,
            pingEvery: reason === "pings" ? Duration.millis(50) : Duration.infinity,
          })
          const { allEnded, connect } = yield* Effect.provideService(
            served,
            CredentialEnd,
            end.await,
          )
          const { raw } = yield* connect()
          raw.pause()
          raw.send("go")
          yield* sent.await
          if (reason === "draining") yield* draining.open
          if (reason === "credentials") yield* end.open
          if (reason === "tooLarge") raw.send("x".repeat(2000))
          yield* allEnded
        }),
      ),
    10_000,
  )

  it.live("a client that reads late gets everything sent before the close, and its code", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const draining = Latch.makeUnsafe(false)
        const sent = Latch.makeUnsafe(false)
        const serve = (connection: Connection) =>
          Effect.andThen(flooding(connection), sent.open).pipe(
            Effect.andThen(connection.receive),
            Effect.ignore,
          )
        const { maxOutboxBytes } = impatient
        const { connect } = yield* serving(serve, { draining: draining.await, maxOutboxBytes })
        const { closed, raw } = yield* connect()
        raw.pause()
        raw.send("go")
        yield* sent.await
        yield* draining.open
        // Longer than the client has to answer the close frame.
        yield* Effect.sleep("3 seconds")
        raw.resume()
        assert.deepStrictEqual(yield* closed, [1001, "the server shuts down", manyMebibytes])
      }),
    ),
  )

  it.live("a client that answers pings stays; one from which nothing comes is dropped", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { connect } = yield* serving(echo, { pingEvery: Duration.millis(50) })
        const answering = yield* connect()
        const silent = yield* connect({ autoPong: false })
        assert.strictEqual((yield* silent.closed)[0], 1006)
        answering.raw.send("still there")
        yield* answering.until(1)
      }),
    ),
  )
})
