/** L5 over the history of a run: summaries (compactions) in the logs. Pure. */
import { type Event, isTerminal } from "@colloquy/protocol/EventMsg"
import type { History } from "../trace/History.ts"

/** Ids of summaries that are made within a turn. */
const withinTurn = /^auto-compact-\d+$/

const faultsOf = (events: ReadonlyArray<Event>): ReadonlyArray<string> => {
  const faults: Array<string> = []
  const seen = new Set<string>()
  let running: Event | undefined
  let input = false
  events.forEach((event, at) => {
    const { id, msg } = event
    if (msg.type === "task_started") {
      running = event
      input = false
    }
    if (running !== undefined && isTerminal(msg) && id === running.id) running = undefined
    if (msg.type === "user_message") input = true
    if (withinTurn.test(id) && running === undefined) faults.push(`${id} outside of a turn`)
    if (msg.type !== "compacted") return
    if (seen.has(id)) faults.push(`${id} twice`)
    seen.add(id)
    const next = events[at + 1]?.msg.type
    // A crash may have cut the log directly after it.
    if (next !== "agent_message" && next !== "turn_aborted") {
      faults.push(`${id} followed by ${next}`)
    }
    // A turn with input continues after its summary, which then has its own id.
    if (withinTurn.test(id) !== input) faults.push(`${id} in the turn ${running?.id}`)
  })
  return faults
}

/** L5: a summary is either a separate turn without input, or lies completely within a turn with input and has its own id. */
export const summariesAreSeparate = ({ conversations }: History): ReadonlyArray<string> =>
  [...conversations.values()].flatMap(({ durable, id }) =>
    faultsOf(durable.map(({ event }) => event)).map((fault) => `${id}: summary ${fault}`),
  )
