/**
 * Judges what is left of a conversation that no process is running, wherever it was stored: numbers, turns, questions and
 * calls.
 */

export interface Msg {
  readonly type: string
  readonly [member: string]: unknown
}

export interface StoredEvent {
  readonly seq: number
  readonly id: string
  readonly msg: Msg
  /** Whether this is the `turn_aborted` of a turn that was stopped by the same process that ran it. */
  readonly isStopped: boolean
}

export interface Judged {
  readonly events: ReadonlyArray<StoredEvent>
  readonly faults: ReadonlyArray<string>
}

/** L4: events are numbered from 0 without gaps. */
const numbering = (events: ReadonlyArray<StoredEvent>): ReadonlyArray<string> => {
  const wrong = events.findIndex(({ seq }, n) => seq !== n)
  return wrong === -1 ? [] : [`event ${wrong} has the number ${events[wrong]?.seq}`]
}

/** L5: turns do not overlap, and each has exactly one terminal event. */
const turns = (events: ReadonlyArray<StoredEvent>): ReadonlyArray<string> => {
  const faults: Array<string> = []
  const seen = new Set<string>()
  let open: string | undefined
  for (const { id, msg } of events) {
    if (msg.type === "task_started") {
      if (open !== undefined) faults.push(`turn ${id} began before ${open} had ended`)
      if (seen.has(id)) faults.push(`turn ${id} began twice`)
      seen.add(id)
      open = id
    } else if (msg.type === "task_complete" || msg.type === "turn_aborted") {
      if (open !== id) faults.push(`turn ${id} ended while ${open ?? "none"} ran`)
      open = undefined
    }
  }
  return open === undefined ? faults : [...faults, `turn ${open} has no end`]
}

const count = (names: ReadonlyArray<string>): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}

const paired = (
  what: string,
  asked: ReadonlyArray<string>,
  given: ReadonlyArray<string>,
  mayBeOpen: (name: string) => boolean = () => false,
): ReadonlyArray<string> => {
  const [before, after] = [count(asked), count(given)]
  return [...new Set([...asked, ...given])].flatMap((name) => {
    const [first = 0, second = 0] = [before.get(name), after.get(name)]
    const isRight = mayBeOpen(name) ? second <= first : second === first
    return isRight ? [] : [`${what} ${name}: ${first} and ${second}`]
  })
}

const named = (
  events: ReadonlyArray<StoredEvent>,
  name: (event: StoredEvent) => string | undefined,
): ReadonlyArray<string> =>
  events.flatMap((event) => {
    const found = name(event)
    return found === undefined ? [] : [`${event.id}/${found}`]
  })

/**
 * L7: each question has exactly one answer. Without a listener, the answer (`unattended`) is recorded without a
 * question, or after its question when the server first waited for a listener.
 */
const questions = (events: ReadonlyArray<StoredEvent>): ReadonlyArray<string> => {
  const asked = named(events, ({ msg }) =>
    msg.type.endsWith("_approval_request") ? String(msg["call_id"]) : undefined,
  )
  const questioned = new Set(asked)
  const answered = named(events, ({ id, msg }) => {
    const call = String(msg["call_id"])
    const counts = msg["reason"] !== "unattended" || questioned.has(`${id}/${call}`)
    return msg.type === "approval_resolved" && counts ? call : undefined
  })
  return paired("question and its answers", asked, answered)
}

/**
 * L11: each call has one output, even when the process was killed during the call. A call of a turn that was stopped may lack
 * one: the model receives it as aborted.
 */
const calls = (events: ReadonlyArray<StoredEvent>): ReadonlyArray<string> => {
  const item = (pattern: RegExp) =>
    named(events, ({ msg }) => {
      const { call_id, type } = (msg["item"] ?? {}) as { readonly [member: string]: unknown }
      return msg.type === "raw_response_item" && pattern.test(String(type))
        ? String(call_id)
        : undefined
    })
  const open = new Set(events.flatMap(({ id, isStopped }) => (isStopped ? [id] : [])))
  return paired(
    "call and its outputs",
    item(/^(function|custom_tool)_call$/),
    item(/_call_output$/),
    (name) => open.has(name.slice(0, name.indexOf("/"))),
  )
}

/** The violations of the laws by these events, which are all of a conversation. */
export const faultsOf = (events: ReadonlyArray<StoredEvent>): ReadonlyArray<string> =>
  [numbering, turns, questions, calls].flatMap((law) => law(events))
