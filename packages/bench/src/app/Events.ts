/** The rate at which a turn of many small deltas is delivered to the listeners of one connection, measured from the provider's socket. */
import { ConversationLagged } from "@colloquy/protocol/app/Events"
import { AddConversationListener, SendUserMessage } from "@colloquy/protocol/app/Messages"
import { requestText } from "@colloquy/protocol/JsonRpc"
import * as MockProvider from "@colloquy/testing/MockProvider"
import * as Script from "@colloquy/testing/ProviderScript"
import * as Effect from "effect/Effect"
import * as Home from "../Home.ts"
import { summarize } from "../Stats.ts"
import { delta, inPieces } from "../stdio/Deltas.ts"
import { megabytes, perSecond, type Row } from "../Table.ts"
import { begin, newConversation } from "./Wire.ts"

/** Sizes of the measurement. */
export interface EventOptions {
  readonly server: ReadonlyArray<string>
  readonly listeners: number
  readonly deliveries: number
  /** Turns, each in a separate conversation; one more before them is not counted. */
  readonly runs: number
}

const prefix = "codex/event/"

interface Turn {
  readonly events: number
  readonly deltas: number
  /** Number of times that a listener was notified that it had lagged. */
  readonly lags: number
  readonly bytes: number
  readonly ms: number
}

interface Line {
  readonly method?: string
  readonly params?: { readonly msg?: { readonly delta?: string } }
}

/** Throws when a listener that did not lag did not receive the whole text. */
const read = (chunks: ReadonlyArray<Buffer>, ms: number, wantedChars: number): Turn => {
  const all = Buffer.concat(chunks)
  const turn = { events: 0, deltas: 0, lags: 0, bytes: all.length, ms }
  let chars = 0
  for (const text of all.toString("utf8").trimEnd().split("\n")) {
    const { method, params } = JSON.parse(text) as Line
    if (method?.startsWith(prefix) === true) turn.events++
    if (method === `${prefix}agent_message_delta`) {
      turn.deltas++
      chars += params?.msg?.delta?.length ?? 0
    }
    if (method === ConversationLagged._tag) turn.lags++
  }
  if (turn.lags === 0 && chars !== wantedChars) {
    throw new Error(`text was lost: ${chars} of ${wantedChars} characters came`)
  }
  return turn
}

/** Measures the rate for one number of listeners. */
export const events = Effect.fn("bench.appEvents")(function* (options: EventOptions) {
  const { listeners } = options
  const deltas = Math.ceil(options.deliveries / listeners)
  const provider = yield* MockProvider.make(() => Script.reply(...inPieces(deltas)))
  const env = yield* Home.make(Home.providerConfig(provider.baseUrl))
  const server = yield* begin(options.server, env)
  const turns: Array<Turn> = []
  for (let run = 0; run <= options.runs; run++) {
    const conversationId = yield* newConversation(server)
    for (let n = 0; n < listeners; n++) {
      yield* server.call(requestText(2, AddConversationListener._tag, { conversationId }))
    }
    const items = [{ type: "text", data: { text: "speak" } }]
    const { chunks, ms } = yield* server.callUntil(
      requestText(3, SendUserMessage._tag, { conversationId, items }),
      `"method":"${prefix}task_complete"`,
      listeners,
    )
    const turn = read(chunks, ms, deltas * delta.length * listeners)
    if (run > 0) turns.push(turn)
  }
  const of = (figure: (turn: Turn) => number) => summarize(turns.map(figure)).median
  const own = of((turn) => turn.deltas) / (deltas * listeners)
  const lags = turns.reduce((sum, turn) => sum + turn.lags, 0)
  return {
    name: `events to ${listeners === 1 ? "1 listener" : `${listeners} listeners`}`,
    value: perSecond(of((turn) => (turn.events / turn.ms) * 1000)),
    beside: `${megabytes(of((turn) => (turn.bytes / turn.ms) * 1000))}/s, ${perSecond(of(({ ms }) => (deltas / ms) * 1000))} of the model, ${(own * 100).toFixed(0)} % as they came${lags === 0 ? "" : `, ${lags} lagged`}`,
  } satisfies Row
}, Effect.scoped)
