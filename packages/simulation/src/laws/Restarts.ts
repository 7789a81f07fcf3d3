/** L3, L4 and L7 over a story: what is read when all is done, and what comes after a crash. Pure. */
import { type Event, isTerminal } from "@colloquy/protocol/EventMsg"
import type { History } from "../trace/History.ts"
import type { Answer } from "../trace/Trace.ts"
import type { Run } from "../World.ts"

/** Of a store that answers too late nobody knows. */
const mayBeDone = (answer: Answer | undefined): boolean =>
  answer?.is !== "error" || answer.reason === "Slow"

/** L3: who was made and never ended is there at the end, whatever the store did. */
export const readAtLast = ({ calls, run }: History): ReadonlyArray<string> => {
  const ended = new Set(
    calls.flatMap(({ answers, entry: { conversation, operation } }) =>
      // It lives on when the store does not forget it.
      operation.do === "remove" && mayBeDone(answers[0]?.answer) ? [conversation] : [],
    ),
  )
  // Others that are listened to may leave no room for it in memory.
  const noRoom = (answer: Answer) =>
    answer.is === "error" && answer.reason?.endsWith("in use already, which is the limit") === true
  return run.trace.flatMap((entry) =>
    entry.at === "read" &&
    entry.answer.is !== "ok" &&
    !noRoom(entry.answer) &&
    !ended.has(entry.conversation)
      ? [`${entry.conversation} cannot be read: ${JSON.stringify(entry.answer)}`]
      : [],
  )
}

/** L4: after a crash a log begins with all that was left of it, and closes what that leaves open. */
export const beginsWithTheRest = ({ conversations, run }: History): ReadonlyArray<string> =>
  [...(run.left ?? [])].flatMap(([id, left]) => {
    const log = conversations.get(id)?.durable.map(({ event }) => event)
    if (log === undefined) return run.end === "done" ? [`${id} is not found again`] : []
    const begins = JSON.stringify(log.slice(0, left.length)) === JSON.stringify(left)
    return begins ? [] : [`${id} does not begin with the ${left.length} events that were left`]
  })

/** The turn that a log leaves open. */
const openTurn = (log: ReadonlyArray<Event>): Event | undefined => {
  const begun = log.findLast(({ msg }) => msg.type === "task_started")
  return log.some((e) => e.id === begun?.id && e.seq > begun.seq && isTerminal(e.msg))
    ? undefined
    : begun
}

/** The questions that a log leaves open. */
const openQuestions = (log: ReadonlyArray<Event>): ReadonlyArray<Event> =>
  log.filter(
    ({ id, msg, seq }) =>
      msg.type === "exec_approval_request" &&
      !log.some(
        (e) =>
          e.seq > seq &&
          ((e.msg.type === "approval_resolved" && e.msg.call_id === msg.call_id) ||
            (e.id === id && isTerminal(e.msg))),
      ),
  )

/** What may be told of a turn that a crash cut off, before it is told to be over. */
const closes = ["approval_resolved", "raw_response_item", "background_event"]

/** L5: a turn that the crash cut off, and that does not wait for an answer, is told to be over before anything else. */
export const closesTheCut = ({ conversations, run }: History): ReadonlyArray<string> =>
  [...(run.left ?? [])].flatMap(([id, left]) => {
    const begun = openTurn(left)
    if (begun === undefined || openQuestions(left).length > 0) return []
    const log = conversations.get(id)?.durable.slice(left.length) ?? []
    const end = log.find(({ event }) => !closes.includes(event.msg.type))?.event
    return end?.id === begun.id && end.msg.type === "turn_aborted"
      ? []
      : [`turn ${begun.id} of ${id} is cut off, and ${JSON.stringify(end)} follows`]
  })

/** L11: each call of a turn that the crash cut off has an output when the turn is told to be over. */
export const givesOutputs = ({ conversations, run }: History): ReadonlyArray<string> =>
  [...(run.left ?? [])].flatMap(([id, left]) => {
    const begun = openTurn(left)
    const log = conversations.get(id)?.durable.map(({ event }) => event)
    if (begun === undefined || log === undefined) return []
    const over = log.findIndex((e) => e.seq > begun.seq && e.id === begun.id && isTerminal(e.msg))
    // One that is stopped by a client while it waits for an answer ends like any other.
    if (over === -1 || openQuestions(left).length > 0) return []
    const items = log
      .slice(begun.seq, over)
      .flatMap(({ msg }) => (msg.type === "raw_response_item" ? [msg.item] : []))
    return items.flatMap((item) =>
      item.type === "function_call" &&
      !items.some((o) => o.type === "function_call_output" && o.call_id === item.call_id)
        ? [`call ${item.call_id} of turn ${begun.id} of ${id} has no output`]
        : [],
    )
  })

/** True when somebody was asked who stops the turn with the answer: it may be recorded without its outcome. */
const askedToStop = (trace: Run["trace"], id: string): boolean => {
  const stopping = new Set(
    trace.flatMap((entry) =>
      entry.at === "listening" && entry.conversation === id && entry.answering === "abort"
        ? [entry.listener]
        : [],
    ),
  )
  return trace.some(
    (entry) =>
      entry.at === "took" &&
      stopping.has(entry.listener) &&
      entry.deliveries.some(({ _tag }) => _tag === "Ask"),
  )
}

/** True when somebody had begun to stop something of the conversation. */
const wasStopped = ({ before }: Run, id: string): boolean =>
  before !== undefined &&
  (askedToStop(before.trace, id) ||
    before.trace.some(
      (entry) =>
        entry.at === "call" &&
        entry.conversation === id &&
        (entry.operation.do === "cancel" ||
          (entry.operation.do === "submit" &&
            (entry.operation.whileRunning === "interrupt" ||
              ["interrupt", "shutdown"].includes(entry.operation.what)))),
    ))

/** L7: a question that the crash left open is open again, and nothing is allowed without an answer to it. */
export const survives = ({ conversations, run }: History): ReadonlyArray<string> =>
  [...(run.left ?? [])].flatMap(([id, left]) => {
    const log = conversations.get(id)?.durable.map(({ event }) => event) ?? []
    return openQuestions(left).flatMap(({ msg, seq }) => {
      if (msg.type !== "exec_approval_request") return []
      const verdict = log
        .slice(seq)
        .flatMap((e) =>
          e.msg.type === "approval_resolved" && e.msg.call_id === msg.call_id ? [e.msg] : [],
        )[0]
      if (verdict === undefined) return [`${msg.call_id} is still open at the end`]
      const { decision, reason } = verdict
      const allowed = decision !== "denied" && reason !== "answered"
      return [
        ...(allowed ? [`${msg.call_id} becomes ${decision} (${reason}) after the crash`] : []),
        ...(reason === "withdrawn" && !wasStopped(run, id)
          ? [`${msg.call_id} does not come back after the crash`]
          : []),
      ]
    })
  })
