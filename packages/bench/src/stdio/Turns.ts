/** What the server adds to the provider: warm `codex-reply` turns beside the same requests sent to the provider directly. */
import * as MockProvider from "@colloquy/testing/MockProvider"
import * as Script from "@colloquy/testing/ProviderScript"
import * as Effect from "effect/Effect"
import * as Home from "../Home.ts"
import * as LineProcess from "../LineProcess.ts"
import * as PlainRequest from "../PlainRequest.ts"
import { summarize } from "../Stats.ts"
import { ms, type Row } from "../Table.ts"
import * as Wire from "../Wire.ts"

/** Sizes of the measurement. */
export interface TurnOptions {
  readonly server: ReadonlyArray<string>
  readonly turns: number
}

/** No user notices less; the original adds 1 to 31 ms. */
const maxAddedMs = 2

/** Turns per conversation, so that histories have a usual length. */
const turnsPerConversation = 20

/** Turns that are not counted: V8 optimizes in steps, which both sides of the comparison complete first. */
const warmUpTurns = 100

/** Body of the provider's latest request, as text. */
const lastBody = (provider: MockProvider.MockProvider) =>
  Effect.map(provider.requests, (requests) => JSON.stringify(requests.at(-1)?.body))

/** Milliseconds of whole turns, of the provider alone, of their differences, and of the first turn. */
interface TurnSamples {
  readonly whole: ReadonlyArray<number>
  readonly direct: ReadonlyArray<number>
  readonly added: ReadonlyArray<number>
  readonly first: number
}

const rowsOf = ({ added, direct, first, whole }: TurnSamples): ReadonlyArray<Row> => {
  const [all, provided, extra] = [summarize(whole), summarize(direct), summarize(added)]
  return [
    {
      name: "warm codex-reply turn",
      value: `${ms(all.median)} (p99 ${ms(all.p99)})`,
      beside: `the provider alone ${ms(provided.median)} (p99 ${ms(provided.p99)})`,
    },
    {
      name: "of that ours",
      value: ms(extra.median),
      beside: `median of ${extra.count} differences`,
      aim: { text: `< ${maxAddedMs} ms`, met: extra.median < maxAddedMs },
    },
    { name: "first turn of a process", value: ms(first), beside: "loads and compiles" },
  ]
}

/** Measures both. */
export const turns = Effect.fn("bench.turns")(function* (options: TurnOptions) {
  const provider = yield* MockProvider.make(() => Script.reply(Script.text("done")))
  const env = yield* Home.make(Home.providerConfig(provider.baseUrl))
  const plain = yield* PlainRequest.make(`${provider.baseUrl}/responses`)
  const server = yield* LineProcess.make({ args: options.server, env })
  yield* server.call(Wire.initialize)
  const added: Array<number> = []
  const whole: Array<number> = []
  const direct: Array<number> = []
  let first = Number.NaN
  let threadId = ""
  for (let turn = -warmUpTurns; turn < options.turns; turn++) {
    const id = turn + warmUpTurns + 1
    if (id % turnsPerConversation === 1) {
      const opening = yield* server.call(Wire.codex(id, "begin"))
      threadId = Wire.read(opening.chunks).threadId
      if (id === 1) first = opening.ms
      continue
    }
    const reply = yield* server.call(Wire.codexReply(id, threadId, "go on"))
    const alone = yield* plain(yield* lastBody(provider))
    if (turn < 0) continue
    Wire.read(reply.chunks)
    whole.push(reply.ms)
    direct.push(alone)
    added.push(reply.ms - alone)
  }
  return rowsOf({ whole, direct, added, first })
})
