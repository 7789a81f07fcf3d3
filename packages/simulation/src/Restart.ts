/**
 * The life after a crash. A crash comes at any moment: every batch that had been written by then is there, and of each
 * conversation perhaps a beginning of the batch that was being written. A second manager over that store has to make
 * conversations of it that keep every law again, and has to know everything that the first had acknowledged (L10, L11).
 */
import type { Conversation } from "@colloquy/core/Conversation"
import type { LogRecord } from "@colloquy/core/LogRecord"
import type { Event } from "@colloquy/protocol/EventMsg"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import { audit } from "./scenario/Scenarios.ts"
import { runClients, type Surroundings } from "./scenario/Clients.ts"
import { SeededRandom } from "./SeededRandom.ts"
import { FaultyStore } from "./faults/FaultyStore.ts"
import type { Operation, Plan } from "./scenario/Plan.ts"
import type { Recorder } from "./trace/Recorder.ts"
import type { Entry } from "./trace/Trace.ts"

type Submit = Extract<Operation, { readonly do: "submit" }>

/** Half of the crashes come while a question is open, where there is one. */
const momentOf = (draws: SeededRandom, trace: ReadonlyArray<Entry>): number => {
  const rest = trace.findIndex(({ at }) => at === "rest" || at === "closing")
  const end = rest === -1 ? trace.length : rest
  const asked = trace
    .slice(0, end)
    .flatMap((entry, at) =>
      entry.at === "took" &&
      entry.deliveries.some(
        (d) => d._tag === "Event" && d.event.msg.type === "exec_approval_request",
      )
        ? [at + 1]
        : [],
    )
  const question = draws.chance(0.5) ? asked[draws.below(asked.length)] : undefined
  return question ?? 1 + draws.below(Math.max(1, end - 1))
}

const recordsOf = (
  id: ConversationId,
  { batches }: FaultyStore,
  at: number,
  draws: SeededRandom,
): ReadonlyArray<LogRecord> => {
  const own = batches.filter((batch) => batch.id === id)
  const whole = own.filter((batch) => batch.at < at).flatMap(({ records }) => records)
  // What was being written; a conversation is there when its first batch is, or not at all.
  const torn = whole.length === 0 ? undefined : own.find((batch) => batch.at >= at)
  return torn === undefined || draws.chance(0.5)
    ? whole
    : [...whole, ...torn.records.slice(0, draws.below(torn.records.length))]
}

/** What the crash left, in a store of the next life; `at` is its place in the trace. */
export const crash = (
  plan: Plan,
  trace: ReadonlyArray<Entry>,
  store: FaultyStore,
  recorder: Recorder,
) => {
  const draws = new SeededRandom(plan.seed ^ 0x5bd1e995)
  const at = momentOf(draws, trace)
  const rest = FaultyStore.make({ ...plan.store, faults: [], appendFaults: [] }, recorder)
  const left = new Map<string, ReadonlyArray<Event>>()
  for (const [id, meta] of store.metas) {
    const records = recordsOf(id, store, at, draws)
    if (records.length === 0 || store.deleted.some((gone) => gone.id === id && gone.at <= at)) {
      continue
    }
    rest.hold(meta, records)
    left.set(
      id,
      records.flatMap((record) => (record._tag === "Event" ? [record.event] : [])),
    )
  }
  return { at, left, store: rest }
}

/** Submissions with an id that were taken before the crash. */
const taken = (before: ReadonlyArray<Entry>, id: string): ReadonlyArray<Submit> => {
  const taken = new Set(
    before.flatMap((entry) =>
      entry.at === "answer" && entry.answer.is === "ok" ? [entry.call] : [],
    ),
  )
  return before.flatMap((entry) =>
    entry.at === "call" &&
    entry.conversation === id &&
    taken.has(entry.call) &&
    entry.operation.do === "submit" &&
    entry.operation.id !== undefined &&
    entry.operation.what === "input"
      ? [entry.operation]
      : [],
  )
}

/** Finds every conversation of the list, hears it from its first event on, and goes on with it. */
export const goOn = (surroundings: Surroundings, plan: Plan, before: ReadonlyArray<Entry>) =>
  Effect.gen(function* () {
    const { manager, recorder } = surroundings
    const { items } = yield* manager.list({ limit: 1000 })
    const slots = new Map<number, Conversation>()
    for (const { id } of items) {
      const conversation = yield* manager.get(id)
      recorder.own(id, slots.size)
      slots.set(slots.size, conversation)
      yield* audit(surroundings, conversation)
    }
    const operations = [...slots].flatMap(([slot, { id }]): ReadonlyArray<Operation> => [
      // A client sends again what it may not have been answered.
      ...taken(before, id).map(({ giveUpAfter: _, ...submit }) => ({ ...submit, slot })),
      ...(slot % 2 === 0
        ? [
            {
              do: "attach",
              slot,
              listener: `again ${slot}`,
              maxEvents: 64,
              reading: { how: "fast" },
              answering: slot % 4 === 0 ? "approved" : "denied",
            } as const,
          ]
        : []),
      { do: "submit", slot, what: "input", whileRunning: "queue", text: `again ${slot}.` },
      { do: "list" },
    ])
    yield* runClients({ ...plan, clients: [operations] }, surroundings, slots)
  })
