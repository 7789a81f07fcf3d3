/** What a user does with a server, each from a new process. Each adds samples under the key of a figure. */
import * as Effect from "effect/Effect"
import type * as PlainRequest from "../PlainRequest.ts"
import { type Contender, start } from "./Contender.ts"
import type { FigureKey } from "./Figures.ts"
import * as Session from "./Session.ts"

/** How often each figure is taken per run. */
export interface Sizes {
  readonly conversations: number
  readonly replies: number
  readonly sequence: number
  readonly atOnce: number
  readonly growth: number
  readonly deltas: number
  readonly deltaTurns: number
}

/** Adds a sample. */
export type Add = (key: FigureKey, value: number) => void

/** What one scenario needs. */
export interface Setting {
  readonly baseUrl: string
  /** The provider asked directly, with a request as large as that of a short conversation. */
  readonly plain: PlainRequest.PlainRequest
  readonly sizes: Sizes
}

/** A scenario with one server. */
export type Scenario = (contender: Contender, setting: Setting, add: Add) => Effect.Effect<void>

const warmUpTurns = 5

const times = <E>(count: number, one: Effect.Effect<void, E>) =>
  Effect.forEach(Array.from({ length: count }), () => one, { discard: true })

const warmUp = (session: Session.Session) =>
  times(warmUpTurns, Effect.asVoid(session.codex("begin")))

/** As long as a request of ours after ten messages. */
const body = JSON.stringify({ model: "bench", input: "x".repeat(5750), stream: true })

/** A person opens an editor: start, first conversation, then a few more, replies and a long answer. */
const person: Scenario = Effect.fnUntraced(function* (contender, setting, add) {
  const { baseUrl, plain, sizes } = setting
  const session = yield* start(contender, baseUrl)
  add("start", session.startMs)
  add("first", (yield* session.codex("begin")).ms)
  yield* warmUp(session)
  for (let turn = 0; turn < sizes.conversations; turn++) {
    const made = yield* session.codex("begin")
    add("new", made.ms)
    add("newEvent", made.firstEventMs)
  }
  const conversation = Session.conversationOf(yield* session.codex("begin"))
  for (let turn = 0; turn < sizes.replies; turn++) {
    add("reply", (yield* session.reply(conversation, "go on")).ms)
    add("provider", yield* plain(body))
  }
  for (let turn = 0; turn < sizes.deltaTurns; turn++) {
    const spoken = yield* session.codex("speak")
    const deltas = Session.messages(spoken).filter(({ type }) => type === "agent_message_delta")
    const text = deltas.map(({ delta }) => delta ?? "").join("")
    if (text !== "word ".repeat(sizes.deltas)) throw new Error(`${contender.name} lost text`)
    add("deltas", spoken.ms)
    add("unmerged", deltas.length)
  }
}, Effect.scoped)

/** One conversation of many turns in a process that has just started. */
const sequence: Scenario = Effect.fnUntraced(function* (contender, { baseUrl, sizes }, add) {
  const session = yield* start(contender, baseUrl)
  add("start", session.startMs)
  const conversation = Session.conversationOf(yield* session.codex("begin"))
  const before = session.usage().processorMs
  const startedAtMs = performance.now()
  yield* times(sizes.sequence, Effect.asVoid(session.reply(conversation, "go on")))
  add("sequence", (sizes.sequence / (performance.now() - startedAtMs)) * 1000)
  add("processor", (session.usage().processorMs - before) / sizes.sequence)
}, Effect.scoped)

/** Many windows at once. */
const atOnce: Scenario = Effect.fnUntraced(function* (contender, { baseUrl, sizes }, add) {
  const session = yield* start(contender, baseUrl)
  add("start", session.startMs)
  yield* warmUp(session)
  const before = session.usage().residentBytes
  const startedAtMs = performance.now()
  yield* Effect.forEach(Array.from({ length: sizes.atOnce }), () => session.codex("begin"), {
    concurrency: "unbounded",
    discard: true,
  })
  add("atOnce", (sizes.atOnce / (performance.now() - startedAtMs)) * 1000)
  add("resident", (session.usage().residentBytes - before) / sizes.atOnce / 1000)
}, Effect.scoped)

/** A process that runs all day. Of the peers it would take minutes. */
const growth: Scenario = Effect.fnUntraced(function* (contender, { baseUrl, sizes }, add) {
  if (contender.kind !== "ours") return
  const session = yield* start(contender, baseUrl)
  add("start", session.startMs)
  yield* warmUp(session)
  const before = session.usage().residentBytes
  yield* times(sizes.growth, Effect.asVoid(session.codex("begin")))
  add("growth", (session.usage().residentBytes - before) / sizes.growth / 1000)
}, Effect.scoped)

/** All, in the order in which they are run. */
export const scenarios: ReadonlyArray<Scenario> = [person, sequence, atOnce, growth]
