/** L6 over a story: nobody waits for a listener, and none costs more than its bound. Pure. */
import { isEphemeral } from "@colloquy/protocol/EventMsg"
import type { History } from "../trace/History.ts"

/** Durable events read from the log at a time, and what may stand around them: markers, texts in progress. */
const replayPiece = 256 + 5

/** L6: what is kept for a listener is bounded. */
export const boundedOutbox = ({ listeners }: History): ReadonlyArray<string> =>
  listeners.flatMap(({ entry, takes }) => {
    const limit = Math.max(entry.maxEvents, 0)
    return takes.flatMap(({ deliveries }) => {
      const replay = deliveries.some(({ _tag }) => _tag !== "Event") || deliveries.length === 256
      return deliveries.length <= (replay ? replayPiece : limit)
        ? []
        : [`${entry.listener}: ${deliveries.length} at once, limit ${limit}`]
    })
  })

/** How long anybody waits for a call of the store that goes wrong so. */
const storeMs = { fails: 0, stolen: 0, slow: 2_000, late: 10_000 } as const

/** Operations that wait for nothing. */
const immediate = ["submit", "cancel", "attach", "get", "list", "create", "detach", "fork", "pages"]

/** L6: nobody waits for a listener: calls are answered and events delivered in no virtual time at all. */
export const nobodyWaits = (story: History): ReadonlyArray<string> => {
  const { calls, listeners, conversations, run } = story
  const { appendFaults, faults } = run.plan.store
  /** What the faults of the store take together: each comes once. */
  const storeTakesMs = [...appendFaults, ...faults].reduce((sum, { how }) => sum + storeMs[how], 0)
  const late = calls.flatMap(({ ms, entry, answers }) =>
    answers.flatMap((answer) =>
      answer.ms > ms + storeTakesMs && immediate.includes(entry.operation.do)
        ? [`call ${entry.call} took ${answer.ms - ms} ms: ${JSON.stringify(entry.operation)}`]
        : [],
    ),
  )
  // Nothing is told before it is recorded: where that takes its time, everything does.
  if (appendFaults.some(({ how }) => storeMs[how] > 0)) return late
  const said = new Map(
    run.trace.flatMap((entry) =>
      entry.at === "says" ? [[`${entry.conversation} ${entry.text}`, entry.ms] as const] : [],
    ),
  )
  const behind = [...conversations.values()].flatMap(({ id, durable, live }) =>
    (live ? durable : []).flatMap(({ ms, event: { msg } }) => {
      const at = msg.type === "agent_message" ? said.get(`${id} ${msg.message}`) : undefined
      return at === undefined || at === ms ? [] : [`${JSON.stringify(msg)} of ${at} heard at ${ms}`]
    }),
  )
  const slow = listeners.flatMap(({ entry, ms: since, takes }) => {
    const { durable: log = [], live } = conversations.get(entry.conversation) ?? {}
    if (entry.reading.how !== "fast" || live === false) return []
    return takes.flatMap(({ ms, deliveries }) =>
      deliveries.flatMap((delivery) => {
        if (delivery._tag !== "Event" || isEphemeral(delivery.event.msg)) return []
        const heard = log[delivery.event.seq]?.ms ?? ms
        return ms === Math.max(heard, since)
          ? []
          : [`${entry.listener}: event ${delivery.event.seq} of ${heard} at ${ms}`]
      }),
    )
  })
  return [...late, ...behind, ...slow]
}
