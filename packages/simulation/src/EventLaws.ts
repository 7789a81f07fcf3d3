/**
 * The laws (packages/docs/laws.md) that every event log of a conversation keeps, whatever agent wrote it and from whichever
 * event on it was read. The log is complete at its end: the conversation has closed, or no turn of it runs. Pure.
 */
import { type Event, isEphemeral, isTerminal } from "@colloquy/protocol/EventMsg"

/** Events of one conversation in order, ephemeral ones included or not. */
export type EventLog = ReadonlyArray<Event>

/** One check of an event log. */
export interface EventLaw {
  /** For example `L5`. */
  readonly law: string
  /** What the check establishes, as a plain sentence. */
  readonly statement: string
  /** Returns one text per violation; empty for a log that keeps the law. */
  readonly check: (log: EventLog) => ReadonlyArray<string>
}

/** L4: durable events are numbered one after the other; an ephemeral one has the number of the durable one before it. */
const numbered = (log: EventLog): ReadonlyArray<string> => {
  const faults: Array<string> = []
  let last: number | undefined
  for (const { msg, seq } of log) {
    const expected = last === undefined ? seq : isEphemeral(msg) ? last : last + 1
    if (seq !== expected) faults.push(`${msg.type} has number ${seq} where ${expected} is next`)
    last = seq
  }
  return faults
}

/** L3: only the first event is `session_configured`. */
const configuredFirst = (log: EventLog): ReadonlyArray<string> =>
  log.flatMap(({ msg, seq }) =>
    (msg.type === "session_configured") === (seq === 0)
      ? []
      : [`event ${seq} is ${JSON.stringify(msg.type)}`],
  )

/** The events of each turn that starts in the log. */
const turnsOf = (log: EventLog): ReadonlyMap<string, EventLog> => {
  const ids = new Set(log.flatMap(({ id, msg }) => (msg.type === "task_started" ? [id] : [])))
  return new Map([...ids].map((turn) => [turn, log.filter(({ id }) => id === turn)]))
}

/** L5: one terminal event per turn, after all its others. */
const endsOnce = (log: EventLog): ReadonlyArray<string> =>
  [...turnsOf(log)].flatMap(([turn, events]) => {
    const ends = events.filter(({ msg }) => isTerminal(msg)).length
    const starts = events.filter(({ msg }) => msg.type === "task_started").length
    const last = events.at(-1)
    return [
      ...(starts === 1 ? [] : [`turn ${turn}: started ${starts} times`]),
      ...(ends === 1 ? [] : [`turn ${turn}: ${ends} terminal events`]),
      ...(ends === 0 || last === undefined || isTerminal(last.msg)
        ? []
        : [`turn ${turn}: ${last.msg.type} after its end`]),
    ]
  })

/** L5: turns run one after the other. */
const oneAtATime = (log: EventLog): ReadonlyArray<string> => {
  const faults: Array<string> = []
  let running: string | undefined
  for (const { id, msg } of log) {
    if (msg.type === "task_started") {
      if (running !== undefined) faults.push(`turn ${id} starts within ${running}`)
      running = id
    } else if (isTerminal(msg) && id === running) running = undefined
  }
  return faults
}

/** True for events that ask a person. */
const isQuestion = ({ msg }: Event): boolean =>
  msg.type === "tool_approval_request" ||
  msg.type === "exec_approval_request" ||
  msg.type === "apply_patch_approval_request" ||
  msg.type === "request_user_input" ||
  msg.type === "request_permissions"

/** Two events of the same call in the same turn. A call id may occur again in a later turn. */
const sameCall =
  (a: Event) =>
  (b: Event): boolean =>
    a.id === b.id && "call_id" in a.msg && "call_id" in b.msg && a.msg.call_id === b.msg.call_id

const nameOf = ({ id, msg }: Event): string =>
  `${"call_id" in msg ? msg.call_id : id} of turn ${id}`

/** L7: every question is resolved once. */
const resolvedOnce = (log: EventLog): ReadonlyArray<string> =>
  log.flatMap((event, i) => {
    if (!isQuestion(event)) return []
    const later = log.slice(i + 1).filter(sameCall(event))
    const resolved = later.filter(({ msg }) => msg.type === "approval_resolved").length
    return resolved === 1 ? [] : [`question ${nameOf(event)}: resolved ${resolved} times`]
  })

/** L7: a call that a question was asked about runs only after its approval. */
const runsOnlyApproved = (log: EventLog): ReadonlyArray<string> =>
  log.flatMap((event, i) => {
    if (event.msg.type !== "tool_call_begin") return []
    const same = log.filter(sameCall(event))
    if (!same.some(isQuestion)) return []
    const isApproved = log
      .slice(0, i)
      .filter(sameCall(event))
      .some(
        ({ msg }) =>
          msg.type === "approval_resolved" &&
          (msg.decision === "approved" || msg.decision === "approved_for_session"),
      )
    return isApproved ? [] : [`call ${nameOf(event)}: runs without its approval`]
  })

/** L5: a tool call that began ends once, within its turn. */
const callsEnd = (log: EventLog): ReadonlyArray<string> =>
  log.flatMap((event, i) => {
    if (event.msg.type !== "tool_call_begin") return []
    const later = log.slice(i + 1).filter(sameCall(event))
    const ends = later.filter(({ msg }) => msg.type === "tool_call_end").length
    return ends === 1 ? [] : [`call ${nameOf(event)}: ${ends} ends`]
  })

/** Every check of an event log. */
export const eventLaws: ReadonlyArray<EventLaw> = [
  { law: "L3", statement: "a conversation starts with session_configured", check: configuredFirst },
  { law: "L4", statement: "events are numbered without a gap", check: numbered },
  { law: "L5", statement: "every turn ends once, after all its other events", check: endsOnce },
  { law: "L5", statement: "turns run one after the other", check: oneAtATime },
  { law: "L5", statement: "every tool call that began ends once", check: callsEnd },
  { law: "L7", statement: "every question is resolved once", check: resolvedOnce },
  { law: "L7", statement: "no call runs before its approval", check: runsOnlyApproved },
]
