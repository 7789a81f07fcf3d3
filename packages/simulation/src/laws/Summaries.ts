/** L4 and L5 over a story: summaries of the history in logs. Pure. */
import { type Event, isTerminal } from "@colloquy/protocol/EventMsg"
import type { History } from "../trace/History.ts"

const own = /^auto-compact-\d+$/

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
    if (own.test(id) && running === undefined) faults.push(`${id} outside of a turn`)
    if (msg.type !== "compacted") return
    if (seen.has(id)) faults.push(`${id} twice`)
    seen.add(id)
    const next = events[at + 1]?.msg.type
    // A crash may have cut the log right behind it.
    if (next !== "agent_message" && next !== "turn_aborted") {
      faults.push(`${id} followed by ${next}`)
    }
    // A turn that was told something goes on behind its summary, which has an id of its own.
    if (own.test(id) !== input) faults.push(`${id} in the turn ${running?.id}`)
  })
  return faults
}

/** L5: a summary is a turn of its own that takes nothing in, or lies whole within one that does, under its own id. */
export const summariesBelong = ({ conversations }: History): ReadonlyArray<string> =>
  [...conversations.values()].flatMap(({ durable, id }) =>
    faultsOf(durable.map(({ event }) => event)).map((fault) => `${id}: summary ${fault}`),
  )
