/** L5, L8 and L14 over the history of a run: how turns end. Pure. */
import { isTerminal } from "@colloquy/protocol/EventMsg"
import { killGraceMs } from "../scenario/Plan.ts"
import { type Call, type Conversation, receiptOf, type History } from "../trace/History.ts"

const terminalsOf = ({ events }: Conversation, id: string) =>
  events.filter(({ event }) => event.id === id && isTerminal(event.msg))

/** Ids of the submissions that, by the log or a receipt, were accepted as turns, each with the trace index since which it is one. */
const turnsOf = (history: History, conversation: Conversation): ReadonlyMap<string, number> => {
  const turns = new Map<string, number>()
  for (const { event, at } of conversation.events) {
    if (event.msg.type === "task_started") turns.set(event.id, at)
  }
  for (const call of history.calls) {
    const receipt = receiptOf(call)
    const at = call.answers[0]?.at ?? 0
    if (call.entry.conversation !== conversation.id || receipt === undefined) continue
    if (receipt.disposition !== "started" && receipt.disposition !== "waiting") continue
    if (conversation.inheritedIds.has(receipt.id)) continue
    turns.set(receipt.id, Math.min(at, turns.get(receipt.id) ?? at))
  }
  return turns
}

/** Turns that start while another one runs. */
const overlapsOf = ({ events }: Conversation): ReadonlyArray<string> => {
  let running: string | undefined
  const overlaps: Array<string> = []
  for (const { event } of events) {
    if (event.msg.type === "task_started") {
      if (running !== undefined) overlaps.push(`turn ${event.id} starts within ${running}`)
      running = event.id
    } else if (isTerminal(event.msg) && event.id === running) {
      running = undefined
    }
  }
  return overlaps
}

/** L5: every turn has one terminal event, after all its other events; no two turns run at the same time. */
export const endsOnce = (history: History): ReadonlyArray<string> =>
  [...history.conversations.values()].flatMap((conversation) => {
    const ends = [...turnsOf(history, conversation).keys()].flatMap((id) => {
      const terminals = terminalsOf(conversation, id)
      const own = conversation.events.filter(({ event }) => event.id === id)
      const starts = own.filter(({ event }) => event.msg.type === "task_started").length
      const last = own.at(-1)
      return [
        ...(terminals.length === 1 ? [] : [`turn ${id}: ${terminals.length} terminal events`]),
        ...(starts <= 1 ? [] : [`turn ${id}: started ${starts} times`]),
        ...(last !== undefined && isTerminal(last.event.msg)
          ? []
          : [`turn ${id}: ends with ${JSON.stringify(last?.event)}`]),
      ]
    })
    return [...ends, ...overlapsOf(conversation)]
  })

/** L5: a listener that got the start of a turn gets its end, or the reason why its conversation can no longer be recorded. */
export const endsWithReason = ({ listeners }: History): ReadonlyArray<string> =>
  listeners.flatMap(({ because, ended, entry, takes }) => {
    if (!ended || because !== undefined) return []
    let running: string | undefined
    for (const delivery of takes.flatMap(({ deliveries }) => deliveries)) {
      if (delivery._tag !== "Event") continue
      const { id, msg } = delivery.event
      if (msg.type === "task_started") running = id
      else if (isTerminal(msg) && id === running) running = undefined
    }
    return running === undefined
      ? []
      : [`${entry.listener}: ended within turn ${running}, without a reason`]
  })

/** L5: no tool starts for a turn that has ended; a tool that was running may take its time to stop. */
export const noToolStartsAfterEnd = ({ run, conversations }: History): ReadonlyArray<string> =>
  run.trace.flatMap((entry, at) => {
    if (entry.at !== "tool" || entry.does !== "begins") return []
    const conversation = conversations.get(entry.conversation)
    const over = conversation && terminalsOf(conversation, entry.turn)[0]
    return over !== undefined && over.at < at
      ? [`tool ${entry.call} starts after the end of turn ${entry.turn}`]
      : []
  })

/** L8: no tool and no model request of a manager runs after the manager has closed. */
export const nothingStillRuns = ({ run }: History): ReadonlyArray<string> => stillRunning(run)

/** What of a trace has begun and not ended. */
export const stillRunning = (run: Pick<History["run"], "end" | "trace">): ReadonlyArray<string> => {
  if (run.end !== "done") return []
  const open = new Map<string, number>()
  for (const entry of run.trace) {
    if (entry.at !== "tool" && entry.at !== "model") continue
    const name =
      entry.at === "tool"
        ? `tool ${entry.conversation} ${entry.call}`
        : `model ${entry.conversation} ${entry.request}`
    open.set(name, (open.get(name) ?? 0) + (entry.does === "begins" ? 1 : -1))
  }
  return [...open].flatMap(([name, count]) => (count === 0 ? [] : [`${name} still runs`]))
}

/** Bound of an interrupt in milliseconds: one second plus the kill grace. */
const boundMs = 1_000 + killGraceMs

/** Returns whether an acknowledged call stops the turn with a given id. */
const stops = ({ entry: { operation } }: Call, answered: unknown): ((id: string) => boolean) => {
  if (operation.do === "cancel") return (id) => id === answered
  return operation.do === "submit" && operation.what === "interrupt" && operation.id === undefined
    ? () => true
    : () => false
}

/** L14: a turn that ran or was queued when an interrupt was sent ends within the bound after the acknowledgement. */
export const stopsInTime = (history: History): ReadonlyArray<string> =>
  history.calls.flatMap((call) => {
    const answer = call.answers[0]
    const conversation = history.conversations.get(call.entry.conversation ?? "")
    if (conversation?.live !== true || answer?.answer.is !== "ok") return []
    const stopped = stops(call, answer.answer.value)
    return [...turnsOf(history, conversation)].flatMap(([id, since]) => {
      if (since > call.at || !stopped(id)) return []
      const end = terminalsOf(conversation, id)[0]
      return end !== undefined && end.ms <= answer.ms + boundMs
        ? []
        : [`turn ${id}: stopped by call ${call.entry.call} at ${answer.ms}, ended at ${end?.ms}`]
    })
  })
