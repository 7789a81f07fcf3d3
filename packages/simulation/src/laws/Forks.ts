/** L4 over a story: a fork has the beginning of its parent's log, as it was when the fork was asked for. Pure. */
import { type Event, isTerminal } from "@colloquy/protocol/EventMsg"
import type { ForkRule } from "../scenario/Plan.ts"
import type { Delivered, History } from "../trace/History.ts"
import type { EntryOf } from "../trace/Trace.ts"

/** Where in a log its user messages begin, with the start of the turn if they caused it. */
const messages = (log: ReadonlyArray<Event>): ReadonlyArray<number> =>
  log.flatMap(({ msg }, i) => {
    if (msg.type !== "user_message") return []
    return log[i - 2]?.msg.type === "task_started" ? [i - 2] : [i - 1]
  })

/** How many events of such a log the rule keeps, the first included. */
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

/** What may follow that: the end of a turn that was cut, and where the model works. */
const follows = (events: ReadonlyArray<Event>): boolean =>
  events.every(({ msg }) =>
    ["approval_resolved", "turn_aborted", "raw_response_item"].includes(msg.type),
  ) && events.filter(({ msg }) => msg.type === "turn_aborted").length <= 1

const same = (a: Event | undefined, b: Event | undefined): boolean =>
  JSON.stringify([a?.id, a?.msg]) === JSON.stringify([b?.id, b?.msg])

/** The longest beginning of both logs, apart from the first event, which each has of its own. */
const shared = (a: ReadonlyArray<Event>, b: ReadonlyArray<Event>): number => {
  let count = 1
  while (count < a.length && count < b.length && same(a[count], b[count])) count++
  return count
}

const faultOf = (fork: EntryOf<"forked">, story: History): string | undefined => {
  const parent = story.conversations.get(fork.parent)
  const own = story.conversations.get(fork.conversation)
  const call = story.calls.find(({ entry }) => entry.call === fork.call)
  if (parent === undefined || own === undefined || call === undefined) return undefined
  const answered = call.answers[0]?.ms ?? Infinity
  const before = parent.durable.filter(({ at }: Delivered) => at < call.at).length
  // What was read at the end may have been there all along.
  const last = parent.live ? answered : Infinity
  const after = parent.durable.filter(({ ms }) => ms <= last).length
  const log = parent.durable.flatMap(({ event }) =>
    event.msg.type === "shutdown_complete" ? [] : [event],
  )
  // It may have been closed at once.
  const begins = own.durable
    .slice(0, fork.seq)
    .flatMap(({ event }) => (event.msg.type === "shutdown_complete" ? [] : [event]))
  const common = shared(begins, log)
  for (let length = before; length <= after; length++) {
    const count = kept(log.slice(0, length), fork.rule)
    // The model is told where it works, also of a fork that keeps nothing else.
    if (count <= common && (count > 1 ? follows(begins.slice(count)) : begins.length <= 2)) {
      return undefined
    }
  }
  const has = `${begins.length} events, ${common} as in ${fork.parent} of ${before} to ${after}`
  return `${fork.conversation} by ${JSON.stringify(fork.rule)} has ${has}`
}

/** L4: a fork holds what its rule keeps of the parent's settled turns, no more and no less. */
export const forksBegin = (story: History): ReadonlyArray<string> =>
  story.run.trace.flatMap((entry) => (entry.at === "forked" ? (faultOf(entry, story) ?? []) : []))
