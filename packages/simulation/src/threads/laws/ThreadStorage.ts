/** L8, L10, L11 and L16 for threads: what is stored, and what another process reads of it. Pure. */
import { withoutReverted } from "@colloquy/core/log/Reverted"
import { type Event, isTerminal } from "@colloquy/protocol/EventMsg"
import { ThreadQueueAdd, ThreadQueueList } from "@colloquy/protocol/thread/ThreadChanges"
import { ThreadRead, ThreadResume, ThreadStart } from "@colloquy/protocol/thread/Threads"
import { TurnStart, TurnSteer } from "@colloquy/protocol/thread/Turns"
import { stillRunning } from "../../laws/Turns.ts"
import { writersOf } from "../../laws/Durability.ts"
import { at } from "../../stateless/StatelessKnown.ts"
import { connectionsOf } from "../../wire/WireHistory.ts"
import type { ThreadRestart } from "../ThreadWorld.ts"
import {
  type Answered,
  answeredOf,
  ephemeralThreads,
  inputText,
  param,
  type RunCheck,
  succeededOf,
} from "./ThreadCheck.ts"

/** L8: no tool and no request to the model runs after the server has closed. */
export const nothingStillRuns: RunCheck = ({ run }) => stillRunning(run)

/** L16: a writer that lost its lease writes nothing more. */
export const oneWriter: RunCheck = ({ run }) => writersOf(run.trace)

const withInput: ReadonlyArray<string> = [TurnStart._tag, TurnSteer._tag, ThreadQueueAdd._tag]

/** L10: a thread, and input, are stored when the response is read. */
export const acknowledgedIsStored: RunCheck = (history) => {
  const { connections, run } = history
  const ephemeral = ephemeralThreads(history)
  const isStored = (id: unknown, text: string, before: number): boolean =>
    run.batches.some(
      (batch) =>
        batch.at <= before && batch.id === id && JSON.stringify(batch.records).includes(text),
    )
  return connections.flatMap((connection) =>
    succeededOf(connection).flatMap(({ request, response }: Answered) => {
      const isStart = request.method === ThreadStart._tag
      if (!isStart && !withInput.includes(request.method ?? "")) return []
      const id = isStart ? at(response.result, "thread", "id") : param(request, "threadId")
      const text = isStart ? "session_configured" : inputText(request)
      return ephemeral.has(id) || isStored(id, text, response.at)
        ? []
        : [`${request.method} "${text}" of thread ${String(id)} is answered before it is stored`]
    }),
  )
}

const turnsOf = (answered: Answered | undefined): ReadonlyArray<unknown> => {
  const turns = at(answered?.response.result, "thread", "turns")
  return Array.isArray(turns) ? turns : []
}

const itemsOf = (turn: unknown): ReadonlyArray<unknown> => {
  const items = at(turn, "items")
  return Array.isArray(items) ? items : []
}

/** The queue that a log leaves. */
const queueOf = (events: ReadonlyArray<Event>): ReadonlyArray<string> =>
  events.findLast(({ msg }) => msg.type === "queue_changed")?.msg.type === "queue_changed"
    ? (events.flatMap(({ msg }) => (msg.type === "queue_changed" ? [msg.ids] : [])).at(-1) ?? [])
    : []

/** Queued input that is neither listed, nor in the turns that are shown. */
const lostQueue = (
  events: ReadonlyArray<Event>,
  listed: Answered | undefined,
  shown: string,
): ReadonlyArray<string> => {
  const data = at(listed?.response.result, "data")
  const queued = Array.isArray(data) ? data.map((one) => at(one, "id")) : []
  const over = new Set(
    events.flatMap((one) =>
      one.msg.type === "task_started" || isTerminal(one.msg) ? [one.id] : [],
    ),
  )
  return queueOf(events).filter(
    (one) => !queued.includes(one) && !over.has(one) && !shown.includes(`"id":"${one}"`),
  )
}

/** The events of a log that are part of the thread once the reverts that waited are carried out. */
const afterReverts = (
  events: ReadonlyArray<Event>,
  turns: ReadonlyArray<string> = [],
): ReadonlyArray<Pick<Event, "id" | "msg">> =>
  withoutReverted([
    ...events,
    ...turns.map((id) => ({
      id,
      msg: { type: "thread_rolled_back" as const, num_turns: 0, turn_id: id },
    })),
  ])

/** The turns that run, and the items that are open. */
const unfinished = (id: string, turns: ReadonlyArray<unknown>): ReadonlyArray<string> => [
  ...turns.flatMap((turn) =>
    at(turn, "status") === "inProgress"
      ? [`thread ${id}: turn ${String(at(turn, "id"))} runs`]
      : [],
  ),
  ...turns.flatMap((turn) =>
    itemsOf(turn).flatMap((item) =>
      at(item, "status") === "inProgress"
        ? [`thread ${id}: item ${String(at(item, "id"))} is open`]
        : [],
    ),
  ),
]

/** What is wrong with what a client reads of one thread after a crash. */
const recalled = (
  id: string,
  events: ReadonlyArray<Event>,
  reverting: ReadonlyArray<string> | undefined,
  answers: ReadonlyArray<Answered>,
  goesOn: boolean,
): ReadonlyArray<string> => {
  const of = (method: string) =>
    answers.findLast(
      ({ request }) => request.method === method && param(request, "threadId") === id,
    )
  const [resumed, read] = [of(ThreadResume._tag), of(ThreadRead._tag)]
  if (resumed?.response.result === undefined || read?.response.result === undefined) {
    return [`thread ${id} cannot be read: ${read?.response.text ?? resumed?.response.text}`]
  }
  const turns = turnsOf(read)
  const shown = JSON.stringify(turns)
  const missing = afterReverts(events, reverting).flatMap(({ msg }) =>
    msg.type === "user_message" &&
    (msg.kind ?? "plain") === "plain" &&
    !shown.includes(JSON.stringify(msg.message))
      ? [`thread ${id}: message "${msg.message}" is not read back`]
      : [],
  )
  const lost = lostQueue(events, of(ThreadQueueList._tag), shown).map(
    (one) => `thread ${id}: queued input ${one} is lost`,
  )
  // A turn that waited for an answer, or had not begun, goes on, and may hang.
  return [...missing, ...(goesOn ? [] : unfinished(id, turns)), ...lost]
}

const afterCrash = (run: ThreadRestart): ReadonlyArray<string> => {
  const [connection] = connectionsOf(run)
  if (run.end !== "done" || connection === undefined)
    return [`the run after the crash is ${run.end}`]
  const answers = answeredOf(connection)
  const going = new Set(
    run.trace.flatMap((entry) =>
      entry.at === "model" || entry.at === "tool" ? [entry.conversation] : [],
    ),
  )
  return [...run.surviving].flatMap(([id, events]) =>
    recalled(id, events, run.reverting.get(id), answers, going.has(id)),
  )
}

const keyOf = (one: unknown): string => String(at(one, "id"))

/** What of a turn a later response takes back: its end, an item that has ended, or that there is an item. */
const takenBack = (before: unknown, later: unknown): ReadonlyArray<string> => {
  if (at(before, "status") !== "inProgress") {
    return JSON.stringify(before) === JSON.stringify(later) ? [] : ["its end"]
  }
  const items = new Map(itemsOf(later).map((item) => [keyOf(item), JSON.stringify(item)]))
  return itemsOf(before).flatMap((item) => {
    const now = items.get(keyOf(item))
    const isOpen = at(item, "completedAtMs") === null
    return now === undefined || (!isOpen && now !== JSON.stringify(item))
      ? [`item ${keyOf(item)}`]
      : []
  })
}

/** The calls of a turn that began before that time. */
const callsBefore = (turn: unknown, ms: number): ReadonlyArray<string> =>
  itemsOf(turn).flatMap((item) =>
    at(item, "status") !== undefined && Number(at(item, "startedAtMs")) < ms ? [keyOf(item)] : [],
  )

/** What is wrong with what is read of a thread before it is loaded, compared with its next responses. */
const readBeforeLoad = (
  [first, ...later]: ReadonlyArray<Answered>,
  crashedAtMs: number,
): ReadonlyArray<string> => {
  const before = new Map(turnsOf(first).map((turn) => [keyOf(turn), turn]))
  return later.flatMap(turnsOf).flatMap((turn) => {
    const known = before.get(keyOf(turn))
    if (known === undefined) return []
    const shown = itemsOf(known).map(keyOf)
    const missing = callsBefore(turn, crashedAtMs).filter((id) => !shown.includes(id))
    return [
      ...takenBack(known, turn).map((what) => `turn ${keyOf(turn)}: ${what} is taken back`),
      ...missing.map((id) => `turn ${keyOf(turn)}: item ${id} is missing before it is loaded`),
    ]
  })
}

/** L11: what is read of a thread before a process loads it holds afterwards. */
export const readBeforeLoadHolds: RunCheck = ({ run }) => {
  const { afterRestart } = run
  const [connection] = afterRestart === undefined ? [] : connectionsOf(afterRestart)
  if (afterRestart === undefined || connection === undefined) return []
  const crashedAtMs = afterRestart.trace[0]?.ms ?? 0
  const answers = succeededOf(connection).filter(
    ({ request }) => request.method === ThreadRead._tag || request.method === ThreadResume._tag,
  )
  return [...afterRestart.surviving.keys()].flatMap((id) =>
    readBeforeLoad(
      answers.filter(({ request }) => param(request, "threadId") === id),
      crashedAtMs,
    ),
  )
}

/** L11: after a crash every thread that is left can be resumed, with its input and its queue, and all its turns end. */
export const readAfterCrash: RunCheck = ({ run }) =>
  run.afterRestart === undefined ? [] : afterCrash(run.afterRestart)
