/**
 * L4 over the history of a run: a fork starts with a prefix of its parent's log as it was when the fork was requested, and
 * with the times of that. Pure.
 */
import { type Event, isTerminal } from "@colloquy/protocol/EventMsg"
import type { ForkRule } from "../scenario/Plan.ts"
import type { Delivered, History } from "../trace/History.ts"
import type { EntryOf } from "../trace/Trace.ts"

/** Index of each user message in a log, or of the start of the turn that the message caused. */
const messages = (log: ReadonlyArray<Event>): ReadonlyArray<number> =>
  log.flatMap(({ msg }, i) => {
    if (msg.type !== "user_message") return []
    return log[i - 2]?.msg.type === "task_started" ? [i - 2] : [i - 1]
  })

/** Number of events of a log that the rule keeps, including the first. */
const kept = (log: ReadonlyArray<Event>, rule: ForkRule): number => {
  const starts = log.findLastIndex(({ msg }) => msg.type === "task_started")
  const running =
    starts !== -1 &&
    !log.some((e, i) => i > starts && isTerminal(e.msg) && e.id === log[starts]?.id)
  const settled = running ? starts : log.length
  const places = messages(log.slice(0, settled))
  if (rule._tag === "BeforeUserMessage") return places[rule.nth] ?? 1
  return rule.n === 0 ? settled : (places[places.length - rule.n] ?? 1)
}

/** True for the events that may follow the kept ones: the end of a turn that was cut off, and the environment of the model. */
const follows = (events: ReadonlyArray<Event>): boolean =>
  events.every(({ msg }) =>
    ["approval_resolved", "turn_aborted", "raw_response_item"].includes(msg.type),
  ) && events.filter(({ msg }) => msg.type === "turn_aborted").length <= 1

const textOf = (one: Delivered | undefined): string =>
  JSON.stringify([one?.event.id, one?.event.msg, one?.recordedMs])

const same = (a: Delivered | undefined, b: Delivered | undefined): boolean =>
  textOf(a) === textOf(b)

/** Length of the longest common prefix of two logs; the first event is not compared, because each log has its own. */
const shared = (a: ReadonlyArray<Delivered>, b: ReadonlyArray<Delivered>): number => {
  let count = 1
  while (count < a.length && count < b.length && same(a[count], b[count])) count++
  return count
}

const isCopied = ({ event }: Delivered): boolean => event.msg.type !== "shutdown_complete"

const faultOf = (fork: EntryOf<"forked">, history: History): string | undefined => {
  const parent = history.conversations.get(fork.parent)
  const own = history.conversations.get(fork.conversation)
  const call = history.calls.find(({ entry }) => entry.call === fork.call)
  if (parent === undefined || own === undefined || call === undefined) return undefined
  const answered = call.answers[0]?.ms ?? Infinity
  const before = parent.durable.filter(({ at }: Delivered) => at < call.at).length
  // An event that was read only at the end may have been recorded at any time before.
  const last = parent.live ? answered : Infinity
  const after = parent.durable.filter(({ ms }) => ms <= last).length
  const source = parent.durable.filter(isCopied)
  const log = source.map(({ event }) => event)
  // The fork may have been closed at once.
  const copy = own.durable.slice(0, fork.seq).filter(isCopied)
  const begins = copy.map(({ event }) => event)
  const common = shared(copy, source)
  for (let length = before; length <= after; length++) {
    const count = kept(log.slice(0, length), fork.rule)
    // A fork that keeps nothing still holds the environment of the model.
    if (count <= common && (count > 1 ? follows(begins.slice(count)) : begins.length <= 2)) {
      return undefined
    }
  }
  const has = `${begins.length} events, ${common} as in ${fork.parent} of ${before} to ${after}`
  return `${fork.conversation} by ${JSON.stringify(fork.rule)} has ${has}`
}

/** L4: a fork holds exactly the events of the parent's ended turns that its rule keeps, with their times. */
export const forksKeepTheirPrefix = (history: History): ReadonlyArray<string> =>
  history.run.trace.flatMap((entry) =>
    entry.at === "forked" ? (faultOf(entry, history) ?? []) : [],
  )
