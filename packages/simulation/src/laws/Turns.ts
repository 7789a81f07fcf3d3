/** L5, L8 and L14 over a story: how turns end. Pure. */
import { isTerminal } from "@colloquy/protocol/EventMsg"
import { killGraceMs } from "../scenario/Plan.ts"
import { type Call, type Conversation, receiptOf, type History } from "../trace/History.ts"

const terminalsOf = ({ events }: Conversation, id: string) =>
  events.filter(({ event }) => event.id === id && isTerminal(event.msg))

/** The submissions of a conversation that its log or a receipt says were accepted as turns, and since when. */
const turnsOf = (story: History, conversation: Conversation): ReadonlyMap<string, number> => {
  const turns = new Map<string, number>()
  for (const { event, at } of conversation.events) {
    if (event.msg.type === "task_started") turns.set(event.id, at)
  }
  for (const call of story.calls) {
    const receipt = receiptOf(call)
    const at = call.answers[0]?.at ?? 0
    if (call.entry.conversation !== conversation.id || receipt === undefined) continue
    if (receipt.disposition !== "started" && receipt.disposition !== "waiting") continue
    if (conversation.inheritedIds.has(receipt.id)) continue
    turns.set(receipt.id, Math.min(at, turns.get(receipt.id) ?? at))
  }
  return turns
}

/** L5: every turn has one terminal event, after everything else of it; no two run at once. */
export const endsOnce = (story: History): ReadonlyArray<string> =>
  [...story.conversations.values()].flatMap((conversation) => {
    const ends = [...turnsOf(story, conversation).keys()].flatMap((id) => {
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
    let running: string | undefined
    const overlaps: Array<string> = []
    for (const { event } of conversation.events) {
      if (event.msg.type === "task_started") {
        if (running !== undefined) overlaps.push(`turn ${event.id} starts within ${running}`)
        running = event.id
      } else if (isTerminal(event.msg) && event.id === running) {
        running = undefined
      }
    }
    return [...ends, ...overlaps]
  })

/** L5: a listener that was given a turn's beginning is given its end, or why nothing can be recorded any more. */
export const endsOrSaysWhy = ({ listeners }: History): ReadonlyArray<string> =>
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

/** L5: no tool works for a turn that was told to be over, but one that takes its time to stop. */
export const nothingWorksAfter = ({ run, conversations }: History): ReadonlyArray<string> =>
  run.trace.flatMap((entry, at) => {
    if (entry.at !== "tool" || entry.does !== "begins") return []
    const conversation = conversations.get(entry.conversation)
    const over = conversation && terminalsOf(conversation, entry.turn)[0]
    return over !== undefined && over.at < at
      ? [`tool ${entry.call} begins after the end of turn ${entry.turn}`]
      : []
  })

/** L8: nothing of a manager goes on once it is closed. */
export const nothingLeft = ({ run }: History): ReadonlyArray<string> => {
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
  return [...open].flatMap(([name, count]) => (count === 0 ? [] : [`${name} goes on`]))
}

/** One second plus the kill grace. */
const boundMs = 1_000 + killGraceMs

/** Which turns an acknowledged call stops. */
const stops = ({ entry: { operation } }: Call, answered: unknown): ((id: string) => boolean) => {
  if (operation.do === "cancel") return (id) => id === answered
  return operation.do === "submit" && operation.what === "interrupt" && operation.id === undefined
    ? () => true
    : () => false
}

/** L14: what ran or waited when an interrupt was sent ends within the bound of its acknowledgement. */
export const stopsInTime = (story: History): ReadonlyArray<string> =>
  story.calls.flatMap((call) => {
    const answer = call.answers[0]
    const conversation = story.conversations.get(call.entry.conversation ?? "")
    if (conversation?.live !== true || answer?.answer.is !== "ok") return []
    const stopped = stops(call, answer.answer.value)
    return [...turnsOf(story, conversation)].flatMap(([id, since]) => {
      if (since > call.at || !stopped(id)) return []
      const end = terminalsOf(conversation, id)[0]
      return end !== undefined && end.ms <= answer.ms + boundMs
        ? []
        : [`turn ${id}: stopped by call ${call.entry.call} at ${answer.ms}, ended at ${end?.ms}`]
    })
  })
