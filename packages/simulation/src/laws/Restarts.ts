/** L3, L4, L5, L7 and L11 over the history of a run: what can be read at the end, and what follows a crash. Pure. */
import { type Event, isTerminal } from "@colloquy/protocol/EventMsg"
import type { History } from "../trace/History.ts"
import type { Answer } from "../trace/Trace.ts"
import type { Run } from "../World.ts"

/** True unless the answer shows that the operation had no effect; a store that times out may still have done it. */
const mayBeDone = (answer: Answer | undefined): boolean =>
  answer?.is !== "error" || answer.reason === "Slow"

/** L3: a conversation that was created and not removed can be read at the end, whatever the store did. */
export const readableAtEnd = ({ calls, run }: History): ReadonlyArray<string> => {
  const ended = new Set(
    calls.flatMap(({ answers, entry: { conversation, operation } }) =>
      // The conversation remains when the store fails to delete it.
      operation.do === "remove" && mayBeDone(answers[0]?.answer) ? [conversation] : [],
    ),
  )
  // Other conversations with listeners may leave no room for it in memory.
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

/** L4: after a crash a log starts with every event that survived. */
export const startsWithSurvivingLog = ({ conversations, run }: History): ReadonlyArray<string> =>
  [...(run.surviving ?? [])].flatMap(([id, left]) => {
    const log = conversations.get(id)?.durable.map(({ event }) => event)
    if (log === undefined) return run.end === "done" ? [`${id} is not listed after the crash`] : []
    const isPrefix = JSON.stringify(log.slice(0, left.length)) === JSON.stringify(left)
    return isPrefix ? [] : [`${id} does not start with the ${left.length} events that survived`]
  })

/** The `task_started` event of the turn that a log leaves running. */
const openTurn = (log: ReadonlyArray<Event>): Event | undefined => {
  const started = log.findLast(({ msg }) => msg.type === "task_started")
  return log.some((e) => e.id === started?.id && e.seq > started.seq && isTerminal(e.msg))
    ? undefined
    : started
}

/** The questions that a log leaves pending. */
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

/** Events of a turn that a crash cut off that may precede its terminal event after the restart. */
const closes = ["approval_resolved", "raw_response_item", "background_event"]

/** L5: a turn that the crash cut off, and that does not wait for an answer, gets its terminal event before anything else happens. */
export const cutTurnsAreEnded = ({ conversations, run }: History): ReadonlyArray<string> =>
  [...(run.surviving ?? [])].flatMap(([id, left]) => {
    const started = openTurn(left)
    if (started === undefined || openQuestions(left).length > 0) return []
    const log = conversations.get(id)?.durable.slice(left.length) ?? []
    // Where the crash cut off the beginning of the turn, its input is recorded first.
    const hasInput = left.some((e) => e.id === started.id && e.msg.type === "user_message")
    const end = log.find(
      ({ event: { msg } }) =>
        !closes.includes(msg.type) && (hasInput || msg.type !== "user_message"),
    )?.event
    return end?.id === started.id && end.msg.type === "turn_aborted"
      ? []
      : [`turn ${started.id} of ${id} is cut off, but ${JSON.stringify(end)} follows`]
  })

/** L11: each tool call of a turn that the crash cut off has an output before the terminal event of the turn. */
export const cutCallsGetOutputs = ({ conversations, run }: History): ReadonlyArray<string> =>
  [...(run.surviving ?? [])].flatMap(([id, left]) => {
    const started = openTurn(left)
    const log = conversations.get(id)?.durable.map(({ event }) => event)
    if (started === undefined || log === undefined) return []
    const over = log.findIndex(
      (e) => e.seq > started.seq && e.id === started.id && isTerminal(e.msg),
    )
    // A turn that a client interrupts while it waits for an answer ends like any other turn.
    if (over === -1 || openQuestions(left).length > 0) return []
    const items = log
      .slice(started.seq, over)
      .flatMap(({ msg }) => (msg.type === "raw_response_item" ? [msg.item] : []))
    return items.flatMap((item) =>
      item.type === "function_call" &&
      !items.some((o) => o.type === "function_call_output" && o.call_id === item.call_id)
        ? [`call ${item.call_id} of turn ${started.id} of ${id} has no output`]
        : [],
    )
  })

/** True when the log has an answer to the question that lets its turn go on. */
const isPassed = (log: ReadonlyArray<Event>, question: Event): boolean =>
  log.some(
    ({ msg, seq }) =>
      seq > question.seq &&
      msg.type === "approval_resolved" &&
      "call_id" in question.msg &&
      msg.call_id === question.msg.call_id &&
      msg.decision !== "abort",
  )

/**
 * True when a listener that answers `abort` was asked a question of the turn, and the turn did not go on after that
 * question: the answer may be recorded without its outcome. Questions of other turns, and those that somebody else
 * answered, stop nothing.
 */
const askedToStop = (
  trace: Run["trace"],
  id: string,
  turnId: string,
  left: ReadonlyArray<Event>,
): boolean => {
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
      entry.deliveries.some(
        (delivery) =>
          delivery._tag === "Ask" &&
          delivery.event.id === turnId &&
          !isPassed(left, delivery.event),
      ),
  )
}

/** True when a client had requested to stop something in the conversation before its last surviving record was written. */
const wasStopped = (
  { requested }: Run,
  id: string,
  turnId: string,
  left: ReadonlyArray<Event>,
): boolean => {
  const trace = requested?.get(id) ?? []
  return (
    askedToStop(trace, id, turnId, left) ||
    trace.some(
      (entry) =>
        entry.at === "call" &&
        entry.conversation === id &&
        (entry.operation.do === "cancel" ||
          (entry.operation.do === "submit" &&
            (entry.operation.whileRunning === "interrupt" ||
              ["interrupt", "shutdown"].includes(entry.operation.what)))),
    )
  )
}

/** L7: a question that was pending at the crash is pending again, and nothing is allowed without an answer to it. */
export const questionsSurvive = ({ conversations, run }: History): ReadonlyArray<string> =>
  [...(run.surviving ?? [])].flatMap(([id, left]) => {
    const log = conversations.get(id)?.durable.map(({ event }) => event) ?? []
    return openQuestions(left).flatMap(({ id: turnId, msg, seq }) => {
      if (msg.type !== "exec_approval_request") return []
      const verdict = log
        .slice(seq)
        .flatMap((e) =>
          e.msg.type === "approval_resolved" && e.msg.call_id === msg.call_id ? [e.msg] : [],
        )[0]
      if (verdict === undefined) return [`${msg.call_id} is still pending at the end`]
      const { decision, reason } = verdict
      const allowed = decision !== "denied" && reason !== "answered"
      return [
        ...(allowed
          ? [`${msg.call_id} is resolved as ${decision} (${reason}) after the crash`]
          : []),
        ...(reason === "withdrawn" && !wasStopped(run, id, turnId, left)
          ? [`${msg.call_id} is not asked again after the crash`]
          : []),
      ]
    })
  })
