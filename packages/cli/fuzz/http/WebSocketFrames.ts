/**
 * The edge of the bytes that a client sends after the upgrade: frames, fragments, control frames. The server sends each
 * message back, so that what was read is compared with what an independent reader of the same bytes has read. After the input
 * the client closes, or its socket ends.
 */
import type { Connection } from "@colloquy/protocol/Connection"
import { concat, encode, mutateBytes, oneOf } from "@colloquy/simulation/fuzz/Bytes"
import { type Edge, type Verdict, Violation } from "@colloquy/simulation/fuzz/Edge"
import { hash } from "@colloquy/simulation/fuzz/Inputs"
import { SeededRandom } from "@colloquy/simulation/SeededRandom"
import * as WebSocketRoute from "@colloquy/transport-http/ws/WebSocketRoute"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { WebSocketServer } from "@effect/platform-node/NodeWS"
import * as Effect from "effect/Effect"
import { IncomingMessage } from "node:http"
import type { Socket } from "node:net"
import { MemorySocket } from "./MemorySocket.ts"
import { type Frame, frame, framesIn, Opcode, owedFor, textOf } from "./WebSocketBytes.ts"

/** Small, so that inputs exceed it. */
const maxMessageBytes = 4 * 1024

/** Virtual milliseconds within which a connection ends after its client: the close frame has two seconds. */
const endBoundMs = 3_000

const l1 = (message: string) => new Violation({ law: "L1", message })
const l9 = (message: string) => new Violation({ law: "L9", message })

/** Sends back what it receives. */
const echo = (connection: Connection) =>
  connection.receive.pipe(
    Effect.flatMap((frames) =>
      connection.send(
        frames.map((one) =>
          one._tag === "Text" ? `text ${one.text}` : `${one._tag} ${one.bytes}`,
        ),
      ),
    ),
    Effect.forever,
    Effect.ignore,
  )

const upgradeOf = (socket: MemorySocket): IncomingMessage => {
  const request = new IncomingMessage(socket as unknown as Socket)
  request.method = "GET"
  request.url = "/ws"
  Object.assign(request.headers, {
    host: "localhost",
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
  })
  return request
}

/** Resolves when everything that needs no further virtual time has happened. */
const settled = Effect.sleep(1)

const headEnd = encode("\r\n\r\n")

/** The bytes after the response to the upgrade; a fault where it is none. */
const afterHead = (bytes: Uint8Array): Uint8Array | Violation => {
  const text = Buffer.from(bytes).toString("latin1")
  const end = text.indexOf("\r\n\r\n")
  return end === -1 || !text.startsWith("HTTP/1.1 101 ")
    ? l9("does not accept the upgrade")
    : bytes.subarray(end + headEnd.length)
}

/** What a server has written. */
interface Written {
  readonly texts: ReadonlyArray<string>
  readonly pongs: ReadonlyArray<string>
  readonly close: number | undefined
}

const shown = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex")

const isSound = ({ fin, isWhole, masked, rsv }: Frame) => isWhole && fin && rsv === 0 && !masked

/** Reads what a server has written; a fault where it is no series of valid frames. */
const readWritten = (bytes: Uint8Array): Written | Violation => {
  const texts: Array<string> = []
  const pongs: Array<string> = []
  let close: number | undefined
  for (const one of framesIn(bytes)) {
    if (!isSound(one)) return l9("writes a frame that is not valid")
    if (close !== undefined) return l9("writes a frame after the one that closes")
    const text = one.opcode === Opcode.text ? textOf(one.payload) : undefined
    if (one.opcode === Opcode.text && text === undefined)
      return l9("writes a text that is not UTF-8")
    if (text !== undefined) texts.push(text)
    else if (one.opcode === Opcode.pong) pongs.push(shown(one.payload))
    else if (one.opcode === Opcode.close)
      close = (one.payload[0] ?? 0) * 256 + (one.payload[1] ?? 0)
    else if (one.opcode !== Opcode.ping) return l9(`writes a frame of kind ${one.opcode}`)
  }
  return { texts, pongs, close }
}

const isBeginning = (part: ReadonlyArray<string>, whole: ReadonlyArray<string>): boolean =>
  part.every((one, at) => one === whole[at])

/** The first difference between what the server owes for the bytes and what it has written. */
const faultOf = (sent: Uint8Array, { close, texts }: Written): Violation | undefined => {
  const owed = owedFor(sent, maxMessageBytes)
  const expected = owed.messages.map((one) =>
    typeof one === "string" ? `text ${one}` : `NotUtf8 ${one}`,
  )
  if (!isBeginning(texts, expected)) return l1("returns a message that was not sent")
  if (owed.end === undefined) {
    if (texts.length < expected.length) return l1("does not receive every message")
    return close === undefined ? undefined : l1(`closes a valid connection with ${close}`)
  }
  // What was sent shortly before the end may not have been returned when the connection closed.
  if (owed.end === "close") {
    return close === undefined ? l9("does not respond to the frame that closes") : undefined
  }
  return close === owed.end ? undefined : l9(`closes with ${close} in place of ${owed.end}`)
}

const chunksOf = (bytes: Uint8Array): ReadonlyArray<Uint8Array> => {
  const draws = new SeededRandom(hash(bytes))
  if (draws.chance(0.5)) return [bytes]
  const most = draws.pick(1, 3, 50, 1_000)
  const chunks: Array<Uint8Array> = []
  for (let from = 0; from < bytes.length;) {
    const size = chunks.length > 30 ? bytes.length : 1 + draws.below(most)
    chunks.push(bytes.subarray(from, from + size))
    from += size
  }
  return chunks
}

type Accept = (request: IncomingMessage, socket: MemorySocket) => void

const run = Effect.fnUntraced(function* (accept: Accept, input: Uint8Array) {
  const socket = new MemorySocket()
  accept(upgradeOf(socket), socket)
  yield* settled
  for (const chunk of chunksOf(input)) {
    socket.receive(chunk)
    yield* Effect.yieldNow
  }
  yield* settled
  const owed = owedFor(input, maxMessageBytes)
  const isOpen = owed.end === undefined && !owed.isTorn
  const probe = isOpen ? frame(Opcode.text, "the last one") : new Uint8Array()
  socket.receive(probe)
  yield* settled
  const bytes = afterHead(socket.takeWritten())
  if (bytes instanceof Violation) return yield* bytes
  const written = readWritten(bytes)
  if (written instanceof Violation) return yield* written
  const fault = faultOf(concat(input, probe), written)
  if (fault !== undefined) return yield* fault
  if (isOpen) socket.receive(frame(Opcode.close, Uint8Array.of(0x03, 0xe8)))
  yield* settled
  socket.finish()
  yield* Effect.sleep(endBoundMs)
  if (!socket.destroyed) return yield* l9("keeps the socket of a client that is gone")
  const verdict: Verdict = owed.messages.length > 0 ? "accepted" : "rejected"
  return verdict
})

const open = Effect.gen(function* () {
  const scope = yield* Effect.scope
  const server = new WebSocketServer({
    ...WebSocketRoute.serverOptions(maxMessageBytes),
    noServer: true,
  })
  const handler = yield* NodeHttpServer.makeUpgradeHandler(
    Effect.succeed(server),
    WebSocketRoute.handle("local", echo),
    { scope },
  )
  const accept: Accept = (request, socket) => {
    handler(request, socket, Buffer.alloc(0))
  }
  return { run: (input: Uint8Array) => run(accept, input) }
})

const { binary, close, continuation, ping, pong, text } = Opcode

const part = { fin: false }

const valid: ReadonlyArray<Uint8Array> = [
  frame(text, '{"jsonrpc":"2.0","id":1,"method":"ping"}'),
  frame(text, ""),
  frame(text, "ä😀\u0000"),
  frame(binary, Uint8Array.of(1, 2, 255)),
  concat(frame(text, "one", part), frame(continuation, "two", part), frame(continuation, "three")),
  concat(frame(text, "one", part), frame(ping, "p"), frame(continuation, "two")),
  concat(frame(text, "", part), frame(continuation, "", part), frame(continuation, "")),
  frame(ping, "ping"),
  frame(ping, ""),
  frame(pong, "unasked"),
  frame(text, "x".repeat(200)),
  frame(text, "x".repeat(maxMessageBytes)),
  frame(text, "x".repeat(maxMessageBytes + 1)),
  concat(frame(text, "x".repeat(3000), part), frame(continuation, "x".repeat(3000))),
  frame(close, Uint8Array.of(0x03, 0xe8)),
  frame(close, concat(Uint8Array.of(0x0f, 0xa0), encode("reason"))),
  frame(close, ""),
  frame(close, Uint8Array.of(0x03, 0xed)),
  frame(text, Uint8Array.of(0xc3, 0x28)),
  frame(text, "unmasked", { masked: false }),
  frame(ping, "x".repeat(126)),
  frame(ping, "", part),
  frame(continuation, "of nothing"),
  frame(3, "reserved"),
  frame(0x40 | text, "compressed"),
  Uint8Array.of(0x81, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
]

const corpus: ReadonlyArray<Uint8Array> = [
  ...valid,
  concat(...valid.slice(0, 10)),
  ...valid.map((one) => concat(frame(text, "before"), one)),
]

const opcodes = [continuation, text, binary, 3, close, ping, pong, 11]

const mutate = (input: Uint8Array, draws: SeededRandom): Uint8Array => {
  const roll = draws.below(100)
  const donor = oneOf(draws, valid)
  if (input.length === 0) return donor
  if (roll < 25) return concat(input, donor)
  if (roll < 35) return concat(donor, input)
  if (roll < 60) {
    const payload = mutateBytes(encode("some text with ä"), draws, donor)
    const made = frame(oneOf(draws, opcodes), payload, {
      fin: draws.chance(0.7),
      masked: draws.chance(0.9),
    })
    return draws.chance(0.5) ? concat(made, input) : concat(input, made)
  }
  if (roll < 80) {
    // The two bytes at the start of a frame decide what it is.
    const at = draws.below(Math.min(2, input.length))
    return input.with(at, draws.below(256))
  }
  return input.subarray(0, draws.below(input.length + 1))
}

/** What a client sends over a WebSocket. */
export const webSocketFrames: Edge = {
  name: "websocket-frames",
  summary: "what a client sends over a WebSocket: frames, fragments, control frames",
  corpus,
  mutate,
  inputsPerTarget: 200,
  turnsBeforeTime: 6,
  open,
}
