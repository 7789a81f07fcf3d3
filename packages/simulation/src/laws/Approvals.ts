/** L7 over the history of a run: how questions are asked and resolved. Pure. */
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

const outcome = (resolved: Delivered | undefined): string => {
  const msg = resolved?.event.msg
  return msg?.type === "approval_resolved" ? `${msg.decision} (${msg.reason})` : "nothing"
}

/** L7: a question is asked once and resolved once, within its deadline and before the end of its turn. */
export const resolvedOnce = ({ conversations }: History): ReadonlyArray<string> =>
  [...conversations.values()].flatMap((conversation) =>
    questionsOf(conversation).flatMap(({ id, asked, resolved }) => {
      const [question, answer] = [asked[0], resolved[0]]
      const end = conversation.durable.find(
        ({ event }) => event.id === answer?.event.id && isTerminal(event.msg),
      )
      return [
        ...(asked.length <= 1 ? [] : [`${id} is asked ${asked.length} times`]),
        ...(resolved.length === 1 ? [] : [`${id} is resolved ${resolved.length} times`]),
        ...(question === undefined || answer === undefined || answer.event.seq > question.event.seq
          ? []
          : [`${id} is resolved before it is asked`]),
        ...(question === undefined ||
        conversation.lost ||
        (answer?.ms ?? Infinity) <= question.ms + deadlineMs
          ? []
          : [`${id} is asked at ${question.ms} ms, resolved at ${answer?.ms} ms`]),
        ...(end === undefined || (answer?.event.seq ?? 0) < end.event.seq
          ? []
          : [`${id} is resolved after its turn`]),
      ]
    }),
  )

/** L7: the first answer is the outcome; without an answer nothing is allowed; the tool gets the recorded outcome. */
export const firstAnswerWins = ({ conversations, run }: History): ReadonlyArray<string> =>
  [...conversations.values()].flatMap((conversation) =>
    questionsOf(conversation).flatMap(({ id, asked, resolved }) => {
      const own = run.trace.filter(
        (entry) =>
          "question" in entry && entry.question === id && entry.conversation === conversation.id,
      )
      const accepted = own.flatMap((entry) =>
        entry.at === "replied" && entry.answer.is === "ok" ? [entry.decision] : [],
      )
      const verdicts = own.flatMap((entry) =>
        entry.at === "verdict" ? [`${entry.decision} (${entry.reason})`] : [],
      )
      const became = outcome(resolved[0])
      const allowed = became.startsWith("approved") && !/\((answered|granted)\)$/.test(became)
      return [
        ...(accepted.length <= 1 ? [] : [`${id} is answered ${accepted.length} times`]),
        ...(accepted[0] === undefined || became === `${accepted[0]} (answered)`
          ? []
          : [`${id} is answered ${accepted[0]}, but resolved as ${became}`]),
        ...(verdicts.every(
          (verdict) => verdict === became || (conversation.lost && verdict.startsWith("denied")),
        )
          ? []
          : [`${id} is resolved as ${became}, but its tool gets ${verdicts.join()}`]),
        ...(allowed ? [`${id} is resolved as ${became} without an answer`] : []),
        ...(asked.length === 0 && /answered|expired/.test(became)
          ? [`${id} is never asked, but resolved as ${became}`]
          : []),
      ]
    }),
  )

/** L7: a question is asked only where a listener that declared to answer was attached and has not left. */
export const askedOnlyAttended = ({ calls, conversations, run }: History): ReadonlyArray<string> =>
  [...conversations.values()].flatMap((conversation) =>
    questionsOf(conversation).flatMap(({ id, asked }) => {
      const [question] = asked
      if (question === undefined || question.event.seq < conversation.inherited) return []
      const toolStart = run.trace.find(
        (entry) =>
          entry.at === "tool" && entry.conversation === conversation.id && entry.call === id,
      )
      const isAttended = calls.some(({ at, entry }) => {
        const { operation } = entry
        if (operation.do !== "attach" || operation.answering === undefined) return false
        const left = run.trace.find(
          (other) => other.at === "left" && other.listener === operation.listener,
        )
        // The conversation notices a detach slightly later, but before virtual time advances.
        const isAttached = left === undefined || left.ms >= (toolStart?.ms ?? 0)
        return entry.conversation === conversation.id && at < question.at && isAttached
      })
      return isAttended ? [] : [`${id} is asked, but no listener can answer`]
    }),
  )

/** Numbers of the questions of a log that are pending before event `end`. */
const pendingAt = (log: ReadonlyArray<Delivered>, end: number): ReadonlyArray<number> => {
  const open = new Map<string, Event>()
  for (const { event } of log.slice(0, end)) {
    const { msg } = event
    if (msg.type === "exec_approval_request") open.set(msg.call_id, event)
    if (msg.type === "approval_resolved") open.delete(msg.call_id)
    if (isTerminal(msg)) for (const [id, q] of open) if (q.id === event.id) open.delete(id)
  }
  return [...open.values()].map(({ seq }) => seq)
}

/** L7: a listener that answers gets the pending questions after `synced`, and again each time it has lagged. */
export const pendingQuestionsAreDelivered = ({
  conversations,
  listeners,
}: History): ReadonlyArray<string> =>
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
      const pending = pendingAt(log, delivery.seq)
      return asks.join() === pending.join()
        ? []
        : [
            `${entry.listener}: asked ${asks.join()} at ${delivery.seq}, pending are ${pending.join()}`,
          ]
    })
  })
