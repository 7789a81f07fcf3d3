/**
 * The process after a crash. A crash happens at any moment: every batch that had been written by then survives, and of each
 * conversation possibly a prefix of the batch that was being written. A second manager over that store must load
 * conversations that keep every law again, and must know everything that the first had acknowledged (L10, L11).
 */
import type { Conversation } from "@colloquy/core/Conversation"
import type { LogRecord } from "@colloquy/core/LogRecord"
import type { Event } from "@colloquy/protocol/EventMsg"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import { audit } from "./scenario/Scenarios.ts"
import { runClients } from "./scenario/Clients.ts"
import type { Surroundings } from "./scenario/OperationContext.ts"
import { SeededRandom } from "./SeededRandom.ts"
import { FaultyStore } from "./faults/FaultyStore.ts"
import type { Operation, Plan } from "./scenario/Plan.ts"
import type { Recorder } from "./trace/Recorder.ts"
import type { Entry } from "./trace/Trace.ts"

type Submit = Extract<Operation, { readonly do: "submit" }>

/** Index in the trace at which the run crashes. Half of the crashes happen while a question is pending, if there is one. */
const crashIndexOf = (draws: SeededRandom, trace: ReadonlyArray<Entry>): number => {
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

/** The records of a conversation that survive, and the index in the trace at which the last of them was being written. */
const recordsOf = (
  id: ConversationId,
  { batches }: FaultyStore,
  at: number,
  draws: SeededRandom,
): { readonly records: ReadonlyArray<LogRecord>; readonly until: number } => {
  const own = batches.filter((batch) => batch.id === id)
  const whole = own.filter((batch) => batch.at < at).flatMap(({ records }) => records)
  // The batch that was being written; a conversation exists only when its first batch is complete.
  const torn = whole.length === 0 ? undefined : own.find((batch) => batch.at >= at)
  if (torn === undefined || draws.chance(0.5)) return { records: whole, until: at }
  const kept = torn.records.slice(0, draws.below(torn.records.length))
  return { records: [...whole, ...kept], until: kept.length === 0 ? at : torn.at }
}

/** The ids of the turns from which reverts drop that were accepted and that wait for the end of a turn. */
const waitingReverts = (records: ReadonlyArray<LogRecord>): ReadonlyArray<string> => {
  const done = new Set<string>(
    records.flatMap((record) =>
      record._tag === "Event" && record.event.msg.type === "thread_rolled_back"
        ? [record.event.id]
        : [],
    ),
  )
  return records.flatMap((record) =>
    record._tag === "Submission" && record.op?.type === "revert" && !done.has(record.id)
      ? [record.op.turn_id]
      : [],
  )
}

/**
 * The store after a crash, with the surviving events of each conversation and the part of the trace that may have caused
 * them: the batch that was being written can belong to a request after the crash of the others. `at` is the index of the
 * crash in the trace; `reverting` has of each conversation the turns from which reverts drop that the next process carries out.
 */
export const crash = (
  plan: Pick<Plan, "seed" | "store">,
  trace: ReadonlyArray<Entry>,
  store: FaultyStore,
  recorder: Recorder,
) => {
  const draws = new SeededRandom(plan.seed ^ 0x5bd1e995)
  const at = crashIndexOf(draws, trace)
  const rest = FaultyStore.make({ ...plan.store, faults: [], appendFaults: [] }, recorder)
  const surviving = new Map<string, ReadonlyArray<Event>>()
  const requested = new Map<string, ReadonlyArray<Entry>>()
  const reverting = new Map<string, ReadonlyArray<string>>()
  for (const [id, meta] of store.metas) {
    const { records, until } = recordsOf(id, store, at, draws)
    if (records.length === 0 || store.deleted.some((gone) => gone.id === id && gone.at <= at)) {
      continue
    }
    rest.hold(meta, records)
    surviving.set(
      id,
      records.flatMap((record) => (record._tag === "Event" ? [record.event] : [])),
    )
    requested.set(id, trace.slice(0, until))
    reverting.set(id, waitingReverts(records))
  }
  return { at, surviving, requested, reverting, store: rest }
}

/** Submissions with an id that were accepted before the crash. */
const acceptedSubmissions = (before: ReadonlyArray<Entry>, id: string): ReadonlyArray<Submit> => {
  const accepted = new Set(
    before.flatMap((entry) =>
      entry.at === "answer" && entry.answer.is === "ok" ? [entry.call] : [],
    ),
  )
  return before.flatMap((entry) =>
    entry.at === "call" &&
    entry.conversation === id &&
    accepted.has(entry.call) &&
    entry.operation.do === "submit" &&
    entry.operation.id !== undefined &&
    entry.operation.what === "input"
      ? [entry.operation]
      : [],
  )
}

/** Lists all conversations, attaches an audit to each, and continues it: repeats its submissions and sends a new one. */
export const resumeClients = (
  surroundings: Surroundings,
  plan: Plan,
  before: ReadonlyArray<Entry>,
) =>
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
      // A client repeats a submission of which it may not have received the receipt.
      ...acceptedSubmissions(before, id).map(({ giveUpAfter: _, ...submit }) => ({
        ...submit,
        slot,
      })),
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
