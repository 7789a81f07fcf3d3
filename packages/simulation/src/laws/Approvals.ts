/** L7 over a story: what becomes of questions. Pure. */
import { type Event, isTerminal } from "@colloquy/protocol/EventMsg"
import { deadlineMs } from "../scenario/Plan.ts"
import type { Conversation, Delivered, History } from "../trace/History.ts"

interface Question {
  readonly id: string
  readonly asked: ReadonlyArray<Delivered>
  readonly resolved: ReadonlyArray<Delivered>
}

const questionsOf = ({ durable }: Conversation): ReadonlyArray<Question> => {
  const of = (type: string, id: string) =>
    durable.filter(
      ({ event: { msg } }) => msg.type === type && "call_id" in msg && msg.call_id === id,
    )
  const ids = durable.flatMap(({ event: { msg } }) =>
    msg.type === "exec_approval_request" || msg.type === "approval_resolved" ? [msg.call_id] : [],
  )
  return [...new Set(ids)].map((id) => ({
    id,
    asked: of("exec_approval_request", id),
    resolved: of("approval_resolved", id),
  }))
}

const outcome = (heard: Delivered | undefined): string => {
  const msg = heard?.event.msg
  return msg?.type === "approval_resolved" ? `${msg.decision} (${msg.reason})` : "nothing"
}

/** L7: a question is put once, resolved once, within its deadline and before the end of its turn. */
export const resolvedOnce = ({ conversations }: History): ReadonlyArray<string> =>
  [...conversations.values()].flatMap((conversation) =>
    questionsOf(conversation).flatMap(({ id, asked, resolved }) => {
      const [question, answer] = [asked[0], resolved[0]]
      const end = conversation.durable.find(
        ({ event }) => event.id === answer?.event.id && isTerminal(event.msg),
      )
      return [
        ...(asked.length <= 1 ? [] : [`${id} is put ${asked.length} times`]),
        ...(resolved.length === 1 ? [] : [`${id} is resolved ${resolved.length} times`]),
        ...(question === undefined || answer === undefined || answer.event.seq > question.event.seq
          ? []
          : [`${id} is resolved before it is put`]),
        ...(question === undefined ||
        conversation.lost ||
        (answer?.ms ?? Infinity) <= question.ms + deadlineMs
          ? []
          : [`${id} is put at ${question.ms}, resolved at ${answer?.ms}`]),
        ...(end === undefined || (answer?.event.seq ?? 0) < end.event.seq
          ? []
          : [`${id} is resolved after its turn`]),
      ]
    }),
  )

/** L7: the first answer wins and is the outcome; without one nothing is allowed, and the tool is told the same. */
export const firstAnswerWins = ({ conversations, run }: History): ReadonlyArray<string> =>
  [...conversations.values()].flatMap((conversation) =>
    questionsOf(conversation).flatMap(({ id, asked, resolved }) => {
      const own = run.trace.filter(
        (entry) =>
          "question" in entry && entry.question === id && entry.conversation === conversation.id,
      )
      const taken = own.flatMap((entry) =>
        entry.at === "replied" && entry.answer.is === "ok" ? [entry.decision] : [],
      )
      const told = own.flatMap((entry) =>
        entry.at === "verdict" ? [`${entry.decision} (${entry.reason})`] : [],
      )
      const became = outcome(resolved[0])
      const allowed = became.startsWith("approved") && !/\((answered|granted)\)$/.test(became)
      return [
        ...(taken.length <= 1 ? [] : [`${id} is answered ${taken.length} times`]),
        ...(taken[0] === undefined || became === `${taken[0]} (answered)`
          ? []
          : [`${id} is answered ${taken[0]}, and becomes ${became}`]),
        ...(told.every(
          (verdict) => verdict === became || (conversation.lost && verdict.startsWith("denied")),
        )
          ? []
          : [`${id} becomes ${became}, its tool is told ${told.join()}`]),
        ...(allowed ? [`${id} becomes ${became}`] : []),
        ...(asked.length === 0 && /answered|expired/.test(became)
          ? [`${id} is never put, and becomes ${became}`]
          : []),
      ]
    }),
  )

/** L7: a question is put only where somebody declared to answer: an attach was called, and its listener is not gone. */
export const askedWhereAnswered = ({ calls, conversations, run }: History): ReadonlyArray<string> =>
  [...conversations.values()].flatMap((conversation) =>
    questionsOf(conversation).flatMap(({ id, asked }) => {
      const [question] = asked
      if (question === undefined || question.event.seq < conversation.inherited) return []
      const began = run.trace.find(
        (entry) =>
          entry.at === "tool" && entry.conversation === conversation.id && entry.call === id,
      )
      const somebody = calls.some(({ at, entry }) => {
        const { operation } = entry
        if (operation.do !== "attach" || operation.answering === undefined) return false
        const left = run.trace.find(
          (other) => other.at === "left" && other.listener === operation.listener,
        )
        // The conversation hears of a leave a little later; not later than time goes on.
        const there = left === undefined || left.ms >= (began?.ms ?? 0)
        return entry.conversation === conversation.id && at < question.at && there
      })
      return somebody ? [] : [`${id} is put, and nobody can answer`]
    }),
  )

/** The questions of a log that nothing has resolved before event `end`. */
const openAt = (log: ReadonlyArray<Delivered>, end: number): ReadonlyArray<number> => {
  const open = new Map<string, Event>()
  for (const { event } of log.slice(0, end)) {
    const { msg } = event
    if (msg.type === "exec_approval_request") open.set(msg.call_id, event)
    if (msg.type === "approval_resolved") open.delete(msg.call_id)
    if (isTerminal(msg)) for (const [id, q] of open) if (q.id === event.id) open.delete(id)
  }
  return [...open.values()].map(({ seq }) => seq)
}

/** L7: who comes to answer is asked what is open, behind `synced`, and each time it has been too slow. */
export const askedAnew = ({ conversations, listeners }: History): ReadonlyArray<string> =>
  listeners.flatMap(({ entry, takes }) => {
    const log = conversations.get(entry.conversation)?.durable
    if (entry.answering === undefined || log === undefined) return []
    const all = takes.flatMap(({ deliveries }) => deliveries)
    return all.flatMap((delivery, i) => {
      if (delivery._tag !== "Synced") return []
      const asks: Array<number> = []
      for (const next of all.slice(i + 1)) {
        if (next._tag !== "Ask") break
        asks.push(next.event.seq)
      }
      const open = openAt(log, delivery.seq)
      return asks.join() === open.join()
        ? []
        : [`${entry.listener}: asked ${asks.join()} at ${delivery.seq}, open are ${open.join()}`]
    })
  })
