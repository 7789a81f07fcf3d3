/**
 * Edges with the bytes that a client writes as inputs: bytes to lines to messages to a server, and back to bytes. After
 * each input follows a request that must be answered; after the last input of a connection, the end of the input.
 */
import { ConversationManager } from "@colloquy/core/ConversationManager"
import type { SettingsResolver } from "@colloquy/core/ConversationSettings"
import type { Connection } from "@colloquy/protocol/Connection"
import type { Sealer } from "@colloquy/server/Sealer"
import { requestText } from "@colloquy/protocol/JsonRpc"
import { concat, encode } from "@colloquy/simulation/fuzz/Bytes"
import { type Edge, type Verdict, Violation } from "@colloquy/simulation/fuzz/Edge"
import { hash } from "@colloquy/simulation/fuzz/Inputs"
import { mutateLines } from "@colloquy/simulation/fuzz/LineMutators"
import { SeededRandom } from "@colloquy/simulation/SeededRandom"
import * as StdioConnection from "@colloquy/transport-stdio/StdioConnection"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import { WebCrypto } from "effect/crypto/WebCrypto"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { imbalanceOf } from "./Balance.ts"
import { ByteSink, ByteSource } from "./ByteStreams.ts"
import { linesOwed } from "./Expected.ts"
import { type Response, responsesIn } from "./Output.ts"
import { countingCrypto, Ids, services } from "./Services.ts"

/** One frame edge. */
export interface FrameEdgeOptions {
  readonly name: string
  readonly summary: string
  readonly corpus: ReadonlyArray<Uint8Array>
  /** Lines that may be inserted into an input, whole or in parts. */
  readonly donors: ReadonlyArray<string>
  /** A method that is answered at once in every state of a connection. */
  readonly probe: string
  /** Whether a cancelled request remains without a response. */
  readonly silences: boolean
  /** Whether the server may omit the member `jsonrpc`. */
  readonly bare: boolean
  readonly serve: (
    connection: Connection,
  ) => Effect.Effect<void, never, ConversationManager | SettingsResolver | Sealer>
}

/** Small, so that inputs exceed it. */
const maxLineBytes = 12 * 1024

/** Bound in milliseconds of the end of a server: grace of requests, stop of the remaining ones, last responses, flush, and a margin. */
const endBoundMs = 500 + 2_000 + 1_000 + 5_000 + 500

/** Splits an input into chunks, as a pipe may do; depends only on the bytes. */
const chunksOf = (bytes: Uint8Array): ReadonlyArray<Uint8Array> => {
  const draws = new SeededRandom(hash(bytes))
  if (draws.chance(0.6)) return [bytes]
  const chunks: Array<Uint8Array> = []
  const most = draws.pick(2, 16, 200, 4_096)
  for (let from = 0; from < bytes.length && chunks.length < 64;) {
    const size = chunks.length === 63 ? bytes.length : 1 + draws.below(most)
    chunks.push(bytes.subarray(from, from + size))
    from += size
  }
  return chunks
}

/** Resolves when everything that needs no further virtual time has happened. */
const settled = Effect.sleep(1)

const l1 = (message: string) => new Violation({ law: "L1", message })
const l9 = (message: string) => new Violation({ law: "L9", message })

interface Session {
  readonly options: FrameEdgeOptions
  readonly source: ByteSource
  readonly sink: ByteSink
  readonly server: Fiber.Fiber<void>
  /** Everything that was written to the server, and everything it wrote. */
  readonly record: { written: Array<Uint8Array>; read: string; probes: number }
}

const connect = (options: FrameEdgeOptions) =>
  Effect.gen(function* () {
    const source = new ByteSource()
    const sink = new ByteSink()
    const connection = yield* StdioConnection.make({ input: source, output: sink, maxLineBytes })
    const server = yield* Effect.forkScoped(options.serve(connection), { startImmediately: true })
    return { options, source, sink, server, record: { written: [], read: "", probes: 0 } }
  })

const write = (session: Session, bytes: Uint8Array) => {
  session.record.written.push(bytes)
  return session.source.feed(bytes)
}

const probeOf = ({ options, record }: Session, what: string) => {
  const id = `probe ${record.probes++}`
  return { id, text: requestText(id, options.probe, {}), what }
}

/** The responses that the server wrote since the last read; fails for output that is not a valid message. */
const read = ({ options, record, sink }: Session) =>
  Effect.suspend(() => {
    const text = sink.take()
    record.read += text
    const responses = responsesIn(text, options.bare)
    return responses instanceof Violation ? Effect.fail(responses) : Effect.succeed(responses)
  })

const isProbe = ({ id }: Response) => id.startsWith("sprobe ")

/** Writes the input, and a probe that the server must answer while its input is open. */
const send = (session: Session, input: Uint8Array) =>
  Effect.gen(function* () {
    for (const chunk of chunksOf(input)) yield* write(session, chunk)
    yield* settled
    const probe = probeOf(session, "a request after the input")
    yield* write(session, encode(`\n${probe.text}\n`))
    yield* settled
    const responses = yield* read(session)
    if (!responses.some(({ id }) => id === `s${probe.id}`)) {
      return yield* l1("a request after the input is not answered while the input is open")
    }
    const ofInput = responses.filter((response) => !isProbe(response))
    const verdict: Verdict =
      ofInput.length === 0 || ofInput.some(({ succeeded }) => succeeded) ? "accepted" : "rejected"
    return verdict
  })

/** Ends the input, and checks that the server ends within its bound after having answered every request. */
const end = (session: Session) =>
  Effect.gen(function* () {
    const { options, record, server, sink, source } = session
    // The last line has no line break.
    yield* write(session, encode(probeOf(session, "the last line").text))
    const startMs = yield* Clock.currentTimeMillis
    yield* source.close
    const exit = yield* Effect.timeoutOption(Fiber.await(server), endBoundMs * 10)
    const ms = (yield* Clock.currentTimeMillis) - startMs
    if (exit._tag === "None" || ms > endBoundMs) {
      return yield* l9(`the end of the input does not end the server within ${endBoundMs} ms`)
    }
    if (Exit.isFailure(exit.value)) return yield* Effect.failCause(exit.value.cause)
    yield* read(session)
    yield* Effect.sleep("10 seconds")
    if (sink.take() !== "") return yield* l9("writes after it has ended")
    const responses = responsesIn(record.read, options.bare)
    if (responses instanceof Violation) return yield* responses
    const lines = linesOwed(concat(...record.written), maxLineBytes)
    const problem = imbalanceOf(lines, responses, options.silences)
    if (problem !== undefined) return yield* l1(problem)
  })

const runOne = (options: FrameEdgeOptions, input: Uint8Array) =>
  Effect.scoped(
    Effect.gen(function* () {
      const session = yield* connect(options)
      const verdict = yield* send(session, input)
      yield* end(session)
      return verdict
    }),
  )

/** The services that all servers of one target share, and an effect that restores their initial state. */
const shared = Effect.gen(function* () {
  const ids = new Ids()
  const { crypto, reset } = countingCrypto(yield* WebCrypto)
  const context = Context.add(yield* Layer.build(services(ids)), WebCrypto, crypto)
  const manager = Context.get(context, ConversationManager)
  const remove = Effect.suspend(() => {
    reset()
    // An archived or already removed conversation is not found.
    return Effect.forEach(ids.takeMade(), (id) => Effect.ignore(manager.remove(id)), {
      discard: true,
    })
  })
  return { context, remove }
})

const edgeOf = (options: FrameEdgeOptions): Edge => ({
  name: options.name,
  summary: options.summary,
  corpus: options.corpus,
  mutate: mutateLines(options.donors),
  open: Effect.die("replaced by each kind of edge"),
})

/** An edge that uses a new connection for each input. */
export const connectionEdge = (options: FrameEdgeOptions): Edge => ({
  ...edgeOf(options),
  inputsPerTarget: 200,
  open: Effect.map(shared, ({ context, remove }) => ({
    run: (input) => Effect.provideContext(Effect.ensuring(runOne(options, input), remove), context),
  })),
})

/** An edge that sends many inputs on one connection, which ends after the last of them. */
export const sessionEdge = (options: FrameEdgeOptions): Edge => ({
  ...edgeOf(options),
  inputsPerTarget: 40,
  open: Effect.gen(function* () {
    const { context } = yield* shared
    const session = yield* Effect.provideContext(connect(options), context)
    return {
      keepsWork: true,
      run: (input) => send(session, input),
      end: end(session),
    }
  }),
})
