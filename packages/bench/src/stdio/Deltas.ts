/**
 * How fast a long answer passes: turns of many small deltas, from the provider's socket to the client's pipe.
 *
 * Two providers. One writes a little at a time, as models speak, and every delta should reach the client as an event of
 * its own. One writes everything at once: then the server may join the deltas it is behind with, and what counts is
 * how soon the whole text is there.
 */
import * as MockProvider from "@colloquy/testing/MockProvider"
import * as Script from "@colloquy/testing/ProviderScript"
import * as Effect from "effect/Effect"
import * as Home from "../Home.ts"
import * as LineProcess from "../LineProcess.ts"
import { summarize } from "../Stats.ts"
import { megabytes, ms, perSecond, type Row } from "../Table.ts"
import * as Wire from "../Wire.ts"

export interface DeltaOptions {
  readonly server: ReadonlyArray<string>
  readonly deltas: number
  /** Turns with each provider, each turn in a conversation of its own. */
  readonly runs: number
}

/** Some three times the original's (original-behaviour §7). */
const minPerSecond = 30_000

export const delta = "word "
/** Deltas per write of the provider that writes a little at a time, a millisecond apart: it offers some 90,000 a second. */
const perWrite = 100

interface Run {
  readonly ms: number
  readonly reading: Wire.Reading
}

/** So many deltas, a little at a time. */
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
