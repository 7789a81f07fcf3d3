/**
 * The life after a crash: the store holds of each conversation what a crash left of its log, a beginning of any
 * length, often one that ends with a question. A second manager over that store has to make conversations of it that keep every law again (L4, L5, L7).
 */
import type { Conversation } from "@colloquy/core/Conversation"
import type { Event } from "@colloquy/protocol/EventMsg"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import { audit, settings } from "./Births.ts"
import { runClients, type Surroundings } from "./Clients.ts"
import { Draws } from "./Draws.ts"
import type { FaultyStore } from "./FaultyStore.ts"
import type { Operation, Plan } from "./Plan.ts"
import { storyOf } from "./Story.ts"
import type { Entry } from "./Trace.ts"

/** What a crash left, drawn from the seed, of those that lived until the manager was closed and that were heard. */
const left = (
  plan: Plan,
  trace: ReadonlyArray<Entry>,
): ReadonlyMap<string, ReadonlyArray<Event>> => {
  const draws = new Draws(plan.seed ^ 0x5bd1e995)
  const { conversations, calls } = storyOf({ plan, trace, end: "done", steps: 0 })
  const closing = trace.findIndex(({ at }) => at === "closing")
  return new Map(
    [...conversations.values()].flatMap(({ id, durable }) => {
      const end = durable.at(-1)
      const removed = calls.some(
        ({ entry }) => entry.conversation === id && entry.operation.do === "remove",
      )
      if (end?.event.msg.type !== "shutdown_complete" || end.at < closing || removed) return []
      const events = durable.map(({ event }) => event)
      const asked = events.filter(({ msg }) => msg.type === "exec_approval_request")
      const question = draws.chance(0.5) ? asked[draws.below(asked.length)] : undefined
      const length = question === undefined ? 1 + draws.below(events.length - 1) : question.seq + 1
      return [[id, events.slice(0, length)] as const]
    }),
  )
}

/** Puts into the store what the crash left, and gives it. */
export const crash = (
  plan: Plan,
  trace: ReadonlyArray<Entry>,
  store: FaultyStore,
): ReadonlyMap<string, ReadonlyArray<Event>> => {
  const logs = left(plan, trace)
  store.kept.clear()
  for (const [id, events] of logs) store.kept.set(id as ConversationId, { settings, events })
  return logs
}

/** Finds every conversation of the list, hears it from its first event on, and goes on with it. */
export const goOn = (surroundings: Surroundings, plan: Plan) =>
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
    const operations = [...slots.keys()].flatMap((slot): ReadonlyArray<Operation> => [
      { do: "submit", slot, what: "input", whileRunning: "queue", text: `again ${slot}.` },
      { do: "list" },
    ])
    yield* runClients({ ...plan, clients: [operations] }, surroundings, slots)
  })
