/** A trace, grouped for the laws: calls with their answers, the deliveries of each listener, the log of each conversation. Pure. */
import type { Delivery } from "@colloquy/core/listeners/Delivery"
import { type Event, isEphemeral } from "@colloquy/protocol/EventMsg"
import { auditOf } from "../scenario/Listeners.ts"
import type { Answer, Entry, EntryOf } from "./Trace.ts"
import type { Run } from "../World.ts"

/** When something happened: `ms` is the virtual time, `at` the index in the trace. */
interface When {
  readonly ms: number
  readonly at: number
}

/** One call of a client; a run that keeps L1 has exactly one answer for it. */
export interface Call extends When {
  readonly entry: EntryOf<"call">
  readonly answers: Array<When & { readonly answer: Answer }>
}

/** One event and when a listener took it. */
export interface Delivered extends When {
  readonly event: Event
  /** When it was recorded, as the listener was told. */
  readonly recordedMs: number
}

/** One listener from its attach to its end. */
export interface ListenerHistory extends When {
  readonly entry: EntryOf<"listening">
  readonly takes: Array<When & { readonly deliveries: ReadonlyArray<Delivery> }>
  /** True when the conversation ended the listener. */
  ended: boolean
  /** Index of that end in the trace; `Infinity` when there is none. */
  endedAt: number
  /** The reason why its conversation can no longer be recorded, when that ended the listener. */
  because?: string
  /** True when the listener detached. */
  left: boolean
}

/** The events of one conversation, as its audit received them. */
export interface Conversation {
  readonly id: string
  readonly events: ReadonlyArray<Delivered>
  /** Only the durable events, in order of their numbers. */
  readonly durable: ReadonlyArray<Delivered>
  /** How many of them it started with, as a fork or after a restart. */
  readonly inherited: number
  /** Ids of the submissions in those events; another conversation accepted them. */
  readonly inheritedIds: ReadonlySet<string>
  /** True when its audit received events as they happened; false when they were read at the end. */
  readonly live: boolean
  /** Index in the trace at which its audit attached. */
  readonly since: number
  /** True when something could not be recorded: the conversation was then unloaded, and unrecorded events do not count. */
  readonly lost: boolean
}

/** Everything that the laws check of one run. */
export interface History {
  readonly run: Run
  readonly calls: ReadonlyArray<Call>
  readonly listeners: ReadonlyArray<ListenerHistory>
  readonly conversations: ReadonlyMap<string, Conversation>
}

const callsOf = (trace: ReadonlyArray<Entry>): ReadonlyArray<Call> => {
  const calls = new Map<number, Call>()
  trace.forEach((entry, at) => {
    const { ms } = entry
    if (entry.at === "call") calls.set(entry.call, { ms, at, entry, answers: [] })
    if (entry.at === "answer") calls.get(entry.call)?.answers.push({ ms, at, answer: entry.answer })
  })
  return [...calls.values()]
}

const listenersOf = (trace: ReadonlyArray<Entry>): ReadonlyArray<ListenerHistory> => {
  const listeners = new Map<string, ListenerHistory>()
  trace.forEach((entry, at) => {
    const { ms } = entry
    if (entry.at === "listening") {
      listeners.set(entry.listener, {
        ms,
        at,
        entry,
        takes: [],
        ended: false,
        endedAt: Infinity,
        left: false,
      })
    } else if (entry.at === "took") {
      listeners.get(entry.listener)?.takes.push({ ms, at, deliveries: entry.deliveries })
    } else if (entry.at === "ended" || entry.at === "left") {
      const listener = listeners.get(entry.listener)
      if (listener === undefined) return
      listener[entry.at] = true
      if (entry.at === "left") return
      listener.endedAt = at
      if (entry.because !== undefined) listener.because = entry.because
    }
  })
  return [...listeners.values()]
}

const conversationOf = (
  audit: ListenerHistory,
  inherited: number,
  rest: number,
  lost: boolean,
): Conversation => {
  const events = audit.takes.flatMap(({ ms, at, deliveries }) =>
    deliveries.flatMap((d) =>
      d._tag === "Event" ? [{ ms, at, event: d.event, recordedMs: d.atMs }] : [],
    ),
  )
  const durable = events.filter(({ event }) => !isEphemeral(event.msg))
  return {
    id: audit.entry.conversation,
    events,
    durable,
    inherited,
    since: audit.at,
    live: rest === -1 || audit.at < rest,
    lost,
    inheritedIds: new Set(durable.slice(0, inherited).map(({ event }) => event.id)),
  }
}

/** True when the conversation continued after its audit had ended, so that its later events are unknown. */
const isCutShort = (
  { trace }: Run,
  lost: ReadonlySet<string>,
  { ended, endedAt, entry: { conversation }, takes }: ListenerHistory,
): boolean => {
  const last = takes.at(-1)?.deliveries.at(-1)
  const isShutDown = last?._tag === "Event" && last.event.msg.type === "shutdown_complete"
  const continued = trace.some(
    (entry, at) =>
      at > endedAt &&
      entry.at === "append" &&
      entry.conversation === conversation &&
      entry.how === undefined,
  )
  return ended && (continued || (!isShutDown && lost.has(conversation)))
}

/** Groups the trace of a run. Conversations of which later events are unknown are left out. */
export const historyOf = (run: Run): History => {
  const listeners = listenersOf(run.trace)
  const inherited = new Map(
    run.trace.flatMap((entry) =>
      entry.at === "forked" ? [[entry.conversation, entry.seq] as const] : [],
    ),
  )
  for (const [id, events] of run.surviving ?? []) inherited.set(id, events.length)
  const rest = run.trace.findIndex(({ at }) => at === "rest")
  const lost = new Set(
    run.trace.flatMap((entry) =>
      entry.at === "append" && entry.how !== undefined ? [entry.conversation] : [],
    ),
  )
  return {
    run,
    calls: callsOf(run.trace),
    listeners,
    conversations: new Map(
      listeners
        .filter(({ entry }) => entry.listener === auditOf(entry.conversation))
        .filter((audit) => !isCutShort(run, lost, audit))
        .map((audit) => {
          const { conversation } = audit.entry
          const seq = inherited.get(conversation) ?? 0
          return [conversation, conversationOf(audit, seq, rest, lost.has(conversation))]
        }),
    ),
  }
}

/** What an accepted submission was answered with. */
export interface Receipt {
  /** The id whose events the caller follows. */
  readonly id: string
  /** `started`, `joined`, `waiting` or `none`. */
  readonly disposition: string
}

/** The receipt of a call; undefined for other operations and for refused submissions. */
export const receiptOf = ({ answers, entry }: Call): Receipt | undefined => {
  const answer = answers[0]?.answer
  return entry.operation.do === "submit" && answer?.is === "ok"
    ? (answer.value as Receipt)
    : undefined
}
