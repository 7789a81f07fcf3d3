/**
 * The rate of a long answer: turns of many small deltas, from the provider's socket to the client's pipe.
 *
 * There are two providers. One writes in small parts, as models do, and every delta should reach the client as a
 * separate event. The other writes everything at once: the server may then coalesce deltas, and the duration until the
 * whole text has arrived counts.
 */
import * as MockProvider from "@colloquy/testing/MockProvider"
import * as Script from "@colloquy/testing/ProviderScript"
import * as Effect from "effect/Effect"
import * as Home from "../Home.ts"
import * as LineProcess from "../LineProcess.ts"
import { summarize } from "../Stats.ts"
import { megabytes, ms, perSecond, type Row } from "../Table.ts"
import * as Wire from "../Wire.ts"

/** Sizes of the measurement. */
export interface DeltaOptions {
  readonly server: ReadonlyArray<string>
  readonly deltas: number
  /** Turns with each provider, each in a separate conversation. */
  readonly runs: number
}

/** About three times the rate of the original. */
const minPerSecond = 30_000

/** Text of every delta. */
export const delta = "word "
/** Deltas per write of the provider that writes in small parts, a millisecond apart: about 90,000 per second. */
const perWrite = 100

interface Run {
  readonly ms: number
  readonly reading: Wire.Reading
}

/** So many deltas in small parts. */
export const inPieces = (count: number): ReadonlyArray<Script.ProviderStep> => {
  const pieces: Array<Script.ProviderStep> = []
  for (let sent = 0; sent < count; sent += perWrite) {
    pieces.push(
      Script.bareDeltas(...Array.from({ length: Math.min(perWrite, count - sent) }, () => delta)),
      Script.delay(1),
    )
  }
  return pieces
}

const verify = ({ reading }: Run, deltas: number): void => {
  const whole = delta.repeat(deltas)
  if (reading.deltaText !== whole) {
    throw new Error(`text was lost: ${reading.deltaText.length} of ${whole.length} characters came`)
  }
}

const speak = Effect.fnUntraced(function* (options: DeltaOptions, reply: Script.ProviderReply) {
  const provider = yield* MockProvider.make(() => reply)
  const env = yield* Home.make(Home.providerConfig(provider.baseUrl))
  const server = yield* LineProcess.make({ args: options.server, env })
  yield* server.call(Wire.initialize)
  const runs: Array<Run> = []
  for (let id = 1; id <= options.runs; id++) {
    const { ms, chunks } = yield* server.call(Wire.codex(id, "speak"))
    const run = { ms, reading: Wire.read(chunks) }
    verify(run, options.deltas)
    runs.push(run)
  }
  const of = (figure: (run: Run) => number) => summarize(runs.map(figure)).median
  return {
    eventsPerSecond: of(({ ms, reading }) => (reading.deltaEvents / ms) * 1000),
    deltasPerSecond: of(({ ms }) => (options.deltas / ms) * 1000),
    bytesPerSecond: of(({ ms, reading }) => (reading.bytes / ms) * 1000),
    ownShare: of(({ reading }) => reading.deltaEvents) / options.deltas,
    firstMs: runs[0]?.ms ?? Number.NaN,
  }
}, Effect.scoped)

const percent = (share: number) => `${(share * 100).toFixed(0)} %`

/** Measures both providers. */
export const deltas = Effect.fn("bench.deltas")(function* (options: DeltaOptions) {
  const pieces = yield* speak(options, Script.reply(...inPieces(options.deltas)))
  const burst = yield* speak(options, Script.reply(Script.manyDeltas(delta, options.deltas)))
  return [
    {
      name: `delta events, ${perWrite} per write of the provider`,
      value: `${perSecond(pieces.eventsPerSecond)}, ${megabytes(pieces.bytesPerSecond)}/s`,
      beside: `${percent(pieces.ownShare)} of the deltas as they came, first turn ${ms(pieces.firstMs)}`,
      aim: {
        text: `>= ${perSecond(minPerSecond)}`,
        met: pieces.eventsPerSecond >= minPerSecond,
      },
    },
    {
      name: "deltas, all in one write of the provider",
      value: perSecond(burst.deltasPerSecond),
      beside: `${percent(burst.ownShare)} as they came, the others joined, first turn ${ms(burst.firstMs)}`,
    },
  ] satisfies ReadonlyArray<Row>
})
