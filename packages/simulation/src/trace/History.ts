/** A trace, sorted for the laws: calls with their answers, what each listener took, what each conversation's log held. Pure. */
import type { Delivery } from "@colloquy/core/listeners/Delivery"
import { type Event, isEphemeral } from "@colloquy/protocol/EventMsg"
import { auditOf } from "../scenario/Listeners.ts"
import type { Answer, Entry, EntryOf } from "./Trace.ts"
import type { Run } from "../World.ts"

/** When something happened: virtual time, and its place in the trace. */
interface When {
  readonly ms: number
  readonly at: number
}

export interface Call extends When {
  readonly entry: EntryOf<"call">
  readonly answers: Array<When & { readonly answer: Answer }>
}

export interface Delivered extends When {
  readonly event: Event
}

export interface ListenerHistory extends When {
  readonly entry: EntryOf<"listening">
  readonly takes: Array<When & { readonly deliveries: ReadonlyArray<Delivery> }>
  /** The conversation told it of its end. */
  ended: boolean
  endedAt: number
  /** Why nothing of its conversation could be recorded any more, where that was its end. */
  because?: string
  /** It went away itself. */
  left: boolean
}

/** What a conversation's audit heard. */
export interface Conversation {
  readonly id: string
  readonly events: ReadonlyArray<Delivered>
  /** By number. */
  readonly durable: ReadonlyArray<Delivered>
  /** How many of them it began with, as a fork of another. */
  readonly inherited: number
  /** The submissions that those tell of: another conversation took them. */
  readonly inheritedIds: ReadonlySet<string>
  /** Its events were heard as they came, not read at the end. */
  readonly live: boolean
  /** The place in the trace since when they are. */
  readonly since: number
  /** Something of it could not be recorded: it was unloaded, and what was not recorded never was. */
  readonly lost: boolean
}

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
    deliveries.flatMap((d) => (d._tag === "Event" ? [{ ms, at, event: d.event }] : [])),
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

export const historyOf = (run: Run): History => {
  const listeners = listenersOf(run.trace)
  const inherited = new Map(
    run.trace.flatMap((entry) =>
      entry.at === "forked" ? [[entry.conversation, entry.seq] as const] : [],
    ),
  )
  for (const [id, events] of run.left ?? []) inherited.set(id, events.length)
  const rest = run.trace.findIndex(({ at }) => at === "rest")
  const lost = new Set(
    run.trace.flatMap((entry) =>
      entry.at === "append" && entry.how !== undefined ? [entry.conversation] : [],
    ),
  )
  /** It went on after its audit had ended: what was said later nobody knows. */
  const isCut = ({ ended, endedAt, entry: { conversation }, takes }: ListenerHistory) => {
    const last = takes.at(-1)?.deliveries.at(-1)
    const word = last?._tag === "Event" && last.event.msg.type === "shutdown_complete"
    const more = run.trace.some(
      (entry, at) =>
        at > endedAt &&
        entry.at === "append" &&
        entry.conversation === conversation &&
        entry.how === undefined,
    )
    return ended && (more || (!word && lost.has(conversation)))
  }
  return {
    run,
    calls: callsOf(run.trace),
    listeners,
    conversations: new Map(
      listeners
        .filter(({ entry }) => entry.listener === auditOf(entry.conversation))
        .filter((audit) => !isCut(audit))
        .map((audit) => {
          const { conversation } = audit.entry
          const seq = inherited.get(conversation) ?? 0
          return [conversation, conversationOf(audit, seq, rest, lost.has(conversation))]
        }),
    ),
  }
}

export interface Receipt {
  readonly id: string
  readonly disposition: string
}

/** The receipt a submission was answered with. */
export const receiptOf = ({ answers, entry }: Call): Receipt | undefined => {
  const answer = answers[0]?.answer
  return entry.operation.do === "submit" && answer?.is === "ok"
    ? (answer.value as Receipt)
    : undefined
}
