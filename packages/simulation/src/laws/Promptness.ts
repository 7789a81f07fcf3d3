/** L6 over the history of a run: no operation waits for a listener, and no listener holds more than its bound. Pure. */
import { isEphemeral } from "@colloquy/protocol/EventMsg"
import type { History } from "../trace/History.ts"

/** Durable events read from the log at a time, plus what may surround them: markers and texts in progress. */
const replayPiece = 256 + 5

/** L6: the number of deliveries held for a listener is bounded. */
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

/** How long a caller waits for a call of the store that has this fault, in milliseconds. */
const storeMs = { fails: 0, stolen: 0, slow: 2_000, late: 10_000 } as const

/** Operations that take no virtual time. */
const immediate = ["submit", "cancel", "attach", "get", "list", "create", "detach", "fork", "pages"]

/** L6: no operation waits for a listener: calls are answered and events are delivered without virtual time passing. */
export const noWaitForListeners = (history: History): ReadonlyArray<string> => {
  const { appendFaults } = history.run.plan.store
  // An event is delivered only after it is recorded, so a slow append delays every delivery.
  return appendFaults.some(({ how }) => storeMs[how] > 0)
    ? lateAnswers(history)
    : [...lateAnswers(history), ...lateMessages(history), ...lateDeliveries(history)]
}

/** Calls that took longer than the faults of the store explain. */
const lateAnswers = ({ calls, run }: History): ReadonlyArray<string> => {
  const { appendFaults, faults } = run.plan.store
  // The delay of all faults together: each occurs once.
  const storeTakesMs = [...appendFaults, ...faults].reduce((sum, { how }) => sum + storeMs[how], 0)
  return calls.flatMap(({ ms, entry, answers }) =>
    answers.flatMap((answer) =>
      answer.ms > ms + storeTakesMs && immediate.includes(entry.operation.do)
        ? [`call ${entry.call} took ${answer.ms - ms} ms: ${JSON.stringify(entry.operation)}`]
        : [],
    ),
  )
}

/** Messages that were recorded later than the model finished them. */
const lateMessages = ({ conversations, run }: History): ReadonlyArray<string> => {
  const finished = new Map(
    run.trace.flatMap((entry) =>
      entry.at === "says" ? [[`${entry.conversation} ${entry.text}`, entry.ms] as const] : [],
    ),
  )
  return [...conversations.values()].flatMap(({ id, durable, live }) =>
    (live ? durable : []).flatMap(({ ms, event: { msg } }) => {
      const at = msg.type === "agent_message" ? finished.get(`${id} ${msg.message}`) : undefined
      return at === undefined || at === ms
        ? []
        : [`${JSON.stringify(msg)} of ${at} ms delivered at ${ms} ms`]
    }),
  )
}

/** Durable events that a fast listener got later than the audit. */
const lateDeliveries = ({ conversations, listeners }: History): ReadonlyArray<string> =>
  listeners.flatMap(({ entry, ms: since, takes }) => {
    const { durable: log = [], live } = conversations.get(entry.conversation) ?? {}
    if (entry.reading.how !== "fast" || live === false) return []
    return takes.flatMap(({ ms, deliveries }) =>
      deliveries.flatMap((delivery) => {
        if (delivery._tag !== "Event" || isEphemeral(delivery.event.msg)) return []
        const recordedMs = log[delivery.event.seq]?.ms ?? ms
        return ms === Math.max(recordedMs, since)
          ? []
          : [
              `${entry.listener}: event ${delivery.event.seq} of ${recordedMs} ms delivered at ${ms} ms`,
            ]
      }),
    )
  })
