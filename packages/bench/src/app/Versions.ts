/**
 * What a turn of many small deltas costs in each version of the app-server, one subscriber each: the same program in one
 * process per version, the turns of both taken in alternation, so that the machine is the same for both.
 */
import { AddConversationListener, SendUserMessage } from "@colloquy/protocol/app/Messages"
import { requestText } from "@colloquy/protocol/JsonRpc"
import {
  AgentMessageDelta,
  ThreadStarted,
  TurnCompleted,
} from "@colloquy/protocol/thread/Notifications"
import { ThreadStart } from "@colloquy/protocol/thread/Threads"
import { TurnStart } from "@colloquy/protocol/thread/Turns"
import * as MockProvider from "@colloquy/testing/MockProvider"
import * as Script from "@colloquy/testing/ProviderScript"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Home from "../Home.ts"
import type { LineProcess } from "../LineProcess.ts"
import { quantile, summarize } from "../Stats.ts"
import { delta, inPieces } from "../stdio/Deltas.ts"
import { perSecond, type Row } from "../Table.ts"
import { begin, newConversation } from "./Wire.ts"

/** Sizes of the measurement. */
export interface VersionOptions {
  readonly server: ReadonlyArray<string>
  /** Deltas of the model per turn. */
  readonly deltas: number
  /** Turns of each version, each in a separate conversation; one more before them is not counted. */
  readonly runs: number
}

interface Turn {
  readonly ms: number
  /** Undefined on systems without `/proc`. */
  readonly processorMs: number | undefined
  /** Deltas that were notified. */
  readonly deltas: number
}

interface Line {
  readonly id?: unknown
  readonly method?: string
  readonly result?: { readonly thread?: { readonly id: string } }
  readonly params?: { readonly delta?: string; readonly msg?: { readonly delta?: string } }
}

/** Runs one turn in a new conversation. */
type RunTurn = Effect.Effect<Turn>

const linesOf = (chunks: ReadonlyArray<Buffer>): ReadonlyArray<Line> =>
  Buffer.concat(chunks)
    .toString("utf8")
    .trimEnd()
    .split("\n")
    .map((text) => JSON.parse(text) as Line)

/** Throws when a part of the text is missing. */
const measured = (
  server: LineProcess,
  { end, method, text }: { readonly text: string; readonly method: string; readonly end: string },
  wantedChars: number,
): Effect.Effect<Turn> =>
  Effect.gen(function* () {
    const before = server.processorMs()
    const { chunks, ms } = yield* server.callUntil(text, `"method":"${end}"`, 1)
    const after = server.processorMs()
    const found = linesOf(chunks).filter((line) => line.method === method)
    const chars = found.reduce(
      (sum, { params }) => sum + (params?.delta ?? params?.msg?.delta ?? "").length,
      0,
    )
    if (chars !== wantedChars) {
      throw new Error(`text was lost: ${chars} of ${wantedChars} characters came`)
    }
    const processorMs = before === undefined || after === undefined ? undefined : after - before
    return { ms, processorMs, deltas: found.length }
  })

const prefix = "codex/event/"

const first = (server: LineProcess, chars: number): RunTurn =>
  Effect.gen(function* () {
    const conversationId = yield* newConversation(server)
    yield* server.call(requestText(2, AddConversationListener._tag, { conversationId }))
    const items = [{ type: "text", data: { text: "speak" } }]
    const text = requestText(3, SendUserMessage._tag, { conversationId, items })
    const turn = { text, method: `${prefix}agent_message_delta`, end: `${prefix}task_complete` }
    return yield* measured(server, turn, chars)
  })

const second = (server: LineProcess, chars: number): RunTurn =>
  Effect.gen(function* () {
    const started = `"method":"${ThreadStarted._tag}"`
    const { chunks } = yield* server.callUntil(requestText(1, ThreadStart._tag, {}), started, 1)
    const threadId = linesOf(chunks).find(({ id }) => id === 1)?.result?.thread?.id
    if (threadId === undefined) throw new Error("no thread was started")
    const input = [{ type: "text", text: "speak" }]
    const text = requestText(3, TurnStart._tag, { threadId, input })
    const turn = { text, method: AgentMessageDelta._tag, end: TurnCompleted._tag }
    return yield* measured(server, turn, chars)
  })

const median = (samples: ReadonlyArray<number>): number => summarize(samples).median

const rowOf = (name: string, turns: ReadonlyArray<Turn>, deltas: number): Row => {
  const rate = median(turns.map(({ ms }) => (deltas / ms) * 1000))
  const shown = median(turns.map((turn) => turn.deltas)) / deltas
  const us = median(turns.map(({ processorMs = Number.NaN }) => (processorMs / deltas) * 1000))
  return {
    name,
    value: `${perSecond(rate)} of the model`,
    beside: `${Number.isNaN(us) ? "" : `${us.toFixed(1)} µs of processor time each, `}${(shown * 100).toFixed(0)} % as they came`,
  }
}

/**
 * The row of the ratio: the median of those of a turn in v1 and of the turn in v2 after it, so that both were taken under the
 * same load of the machine.
 */
const costRow = (first: ReadonlyArray<Turn>, second: ReadonlyArray<Turn>): Row => {
  const ratios = second.flatMap((turn, run) => {
    const before = first[run]
    if (before === undefined) return []
    // A short turn uses less time than one step of the clock of some systems.
    const isTimed = (before.processorMs ?? 0) > 0 && (turn.processorMs ?? 0) > 0
    return [isTimed ? (turn.processorMs ?? 0) / (before.processorMs ?? 1) : turn.ms / before.ms]
  })
  const sorted = ratios.toSorted((a, b) => a - b)
  const cost = median(sorted)
  const between = [0.1, 0.9].map((share) => quantile(sorted, share).toFixed(2))
  return {
    name: "cost of a delta in v2 beside v1",
    value: `${cost.toFixed(2)} ×`,
    beside: `${between.join(" to ")} in eight of ten pairs of turns`,
    aim: { text: "<= 1.30 ×", met: cost <= 1.3 },
  }
}

/** Measures both versions; the last row is their ratio. */
export const versions = Effect.fn("bench.appVersions")(function* (options: VersionOptions) {
  const { deltas, runs } = options
  const provider = yield* MockProvider.make(() => Script.reply(...inPieces(deltas)))
  const chars = deltas * delta.length
  const start = (
    run: (server: LineProcess, chars: number) => RunTurn,
  ): Effect.Effect<RunTurn, never, Scope.Scope> =>
    Effect.map(
      Effect.flatMap(Home.make(Home.providerConfig(provider.baseUrl)), (env) =>
        begin(options.server, env),
      ),
      (server) => run(server, chars),
    )
  const contenders = [yield* start(first), yield* start(second)]
  const turns: ReadonlyArray<Array<Turn>> = contenders.map(() => [])
  for (let run = 0; run <= runs; run++) {
    for (const [index, contender] of contenders.entries()) {
      const turn = yield* contender
      if (run > 0) turns[index]?.push(turn)
    }
  }
  const [v1 = [], v2 = []] = turns
  return [
    rowOf("deltas in v1", v1, deltas),
    rowOf("deltas in v2", v2, deltas),
    costRow(v1, v2),
  ] satisfies ReadonlyArray<Row>
}, Effect.scoped)
