/** L10 and L16 over a story: what was acknowledged is on record, and one writer records it. Pure. */
import { receiptOf, type History, historyOf } from "../trace/History.ts"
import { show } from "./DescribeCall.ts"

/** L10: what was made, and what was said and acknowledged, is there after the crash. */
export const acknowledgedIsThere = ({ conversations, run }: History): ReadonlyArray<string> => {
  const { before, end, left } = run
  if (before === undefined || left === undefined || end !== "done") return []
  const { calls } = historyOf(before)
  const removed = new Set(
    calls.flatMap(({ entry }) =>
      entry.operation.do === "remove" ? [entry.conversation ?? ""] : [],
    ),
  )
  const made = before.trace.flatMap((entry) =>
    entry.at === "made" && !removed.has(entry.conversation) && !left.has(entry.conversation)
      ? [`${entry.conversation} was made, and is gone after the crash`]
      : [],
  )
  const said = calls.flatMap((call) => {
    const { conversation = "", operation } = call.entry
    const receipt = receiptOf(call)
    const log = conversations.get(conversation)
    if (operation.do !== "submit" || receipt === undefined || log === undefined) return []
    if (receipt.disposition === "none" || !["input", "turn"].includes(operation.what)) return []
    // An id that repeats tells of the first submission that had it.
    const first = calls.find(
      ({ entry }) =>
        entry.conversation === conversation &&
        entry.operation.do === "submit" &&
        entry.operation.id === operation.id,
    )
    if (operation.id !== undefined && first !== call) return []
    const there = log.durable.some(
      ({ event: { id, msg } }) =>
        (msg.type === "user_message" && msg.message === operation.text) ||
        // It waited, and was dropped by somebody who stopped what ran.
        (receipt.disposition === "waiting" && id === receipt.id && msg.type === "turn_aborted"),
    )
    return there ? [] : [`acknowledged, and gone after the crash: ${show(call)}`]
  })
  return [...made, ...said]
}

/** L10: an answer that was taken is on record, and with it what the tool was told. */
export const answersAreRecorded = ({ run }: History): ReadonlyArray<string> =>
  (run.before?.trace ?? []).flatMap((entry) => {
    const isAnswer =
      (entry.at === "replied" && entry.answer.is === "ok") ||
      (entry.at === "verdict" && entry.reason === "answered")
    const log = isAnswer ? run.left?.get(entry.conversation) : undefined
    if (!isAnswer || log === undefined) return []
    const recorded = log.some(
      ({ msg }) =>
        msg.type === "approval_resolved" &&
        msg.call_id === entry.question &&
        msg.decision === entry.decision,
    )
    return recorded ? [] : [`${entry.question} was answered ${entry.decision}, not on record`]
  })

/** L10: a submission that is sent again after the crash gets the receipt it had got. */
export const receiptsOutlast = ({ calls, run }: History): ReadonlyArray<string> => {
  if (run.before === undefined) return []
  const earlier = historyOf(run.before).calls
  return calls.flatMap((call) => {
    const { conversation, operation } = call.entry
    if (operation.do !== "submit" || operation.id === undefined) return []
    const receipt = receiptOf(call)
    const first = earlier.find(
      ({ entry }) =>
        entry.conversation === conversation &&
        entry.operation.do === "submit" &&
        entry.operation.text === operation.text,
    )
    const had = first === undefined ? undefined : receiptOf(first)
    return had === undefined || JSON.stringify(receipt) === JSON.stringify(had)
      ? []
      : [`${show(call)} after ${JSON.stringify(had)}`]
  })
}

/** L16: a writer that lost its lease writes nothing any more, and the writers of a conversation follow one another. */
export const oneWriter = ({ run }: History): ReadonlyArray<string> => {
  const latest = new Map<string, number>()
  return run.trace.flatMap((entry) => {
    if (entry.at !== "append") return []
    const { conversation, generation, how } = entry
    if (how === "stale") return [`${conversation}: writer ${generation} writes without its lease`]
    const last = latest.get(conversation) ?? 0
    if (how !== undefined) return []
    latest.set(conversation, generation)
    return generation < last ? [`${conversation}: writer ${generation} after ${last}`] : []
  })
}
