/**
 * Edges whose inputs are what a client writes: bytes to lines to messages to a server, and back to bytes. Behind each
 * input comes a request that has to be answered; behind the last one on a connection, the end of the input.
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

export interface FrameEdgeOptions {
  readonly name: string
  readonly summary: string
  readonly corpus: ReadonlyArray<Uint8Array>
  /** Lines that may be put into an input, whole or in parts. */
  readonly donors: ReadonlyArray<string>
  /** The method of a request that every state of a connection answers at once. */
  readonly probe: string
  /** Whether a withdrawn request stays without a response. */
  readonly silences: boolean
  /** Whether the server may leave the member `jsonrpc` out. */
  readonly bare: boolean
  readonly serve: (
    connection: Connection,
  ) => Effect.Effect<void, never, ConversationManager | SettingsResolver | Sealer>
}

/** Small, so that an input reaches it. */
const maxLineBytes = 12 * 1024

/** The grace of requests, the stop of what is left, its last responses, the flush: each at its bound, and some room. */
const endBoundMs = 500 + 2_000 + 1_000 + 5_000 + 500

/** Cuts an input into chunks, as a pipe does; a function of the bytes alone. */
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

/** Everything that can happen without more time passing has happened. */
const settled = Effect.sleep(1)

const l1 = (message: string) => new Violation({ law: "L1", message })
const l9 = (message: string) => new Violation({ law: "L9", message })

interface Session {
  readonly options: FrameEdgeOptions
  readonly source: ByteSource
  readonly sink: ByteSink
  readonly server: Fiber.Fiber<void>
  /** Everything that was written to the server, and by it. */
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

/** Everything that the server wrote, as far as it has been read; fails for what is no message. */
const read = ({ options, record, sink }: Session) =>
  Effect.suspend(() => {
    const text = sink.take()
    record.read += text
    const responses = responsesIn(text, options.bare)
    return responses instanceof Violation ? Effect.fail(responses) : Effect.succeed(responses)
  })

const isProbe = ({ id }: Response) => id.startsWith("sprobe ")

/** Writes the input, and a probe that the server has to answer while its input is open. */
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

/** The end of the input ends the server within its bound, and every request has got its response by then. */
const end = (session: Session) =>
  Effect.gen(function* () {
    const { options, record, server, sink, source } = session
    // The last line has no end of its own.
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

/** What servers of one target share, and what takes it back to its beginning. */
const shared = Effect.gen(function* () {
  const ids = new Ids()
  const { crypto, reset } = countingCrypto(yield* WebCrypto)
  const context = Context.add(yield* Layer.build(services(ids)), WebCrypto, crypto)
  const manager = Context.get(context, ConversationManager)
  const remove = Effect.suspend(() => {
    reset()
    // One that is archived or was removed already is not there.
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

/** Each input is a connection of its own, from its beginning to its end. */
export const connectionEdge = (options: FrameEdgeOptions): Edge => ({
  ...edgeOf(options),
  inputsPerTarget: 200,
  open: Effect.map(shared, ({ context, remove }) => ({
    run: (input) => Effect.provideContext(Effect.ensuring(runOne(options, input), remove), context),
  })),
})

/** Many inputs on one connection, which ends after the last of them. */
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
