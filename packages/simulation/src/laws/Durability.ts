/** L10 and L16 over the history of a run: whatever was acknowledged is recorded, and one writer at a time records it. Pure. */
import { receiptOf, type History, historyOf } from "../trace/History.ts"
import { describeCall } from "./DescribeCall.ts"

type Call = History["calls"][number]

/** The submissions to a conversation with this id, in the order of their calls. */
const submissionsWith = (
  calls: ReadonlyArray<Call>,
  conversation: string,
  id: string | undefined,
): ReadonlyArray<Call> =>
  calls.filter(
    ({ entry }) =>
      entry.conversation === conversation &&
      entry.operation.do === "submit" &&
      entry.operation.id === id,
  )

const textOf = ({ entry: { operation } }: Call): string | undefined =>
  operation.do === "submit" ? operation.text : undefined

/**
 * A fork keeps the ids of its parent: a submission whose client chose one of them again gets the receipt of the parent's
 * submission. An automatic id is never one of them.
 */
const inheritedIds = (
  trace: History["run"]["trace"],
  surviving: NonNullable<History["run"]["surviving"]>,
) => {
  const inherited = new Map(
    trace.flatMap((entry) =>
      entry.at === "forked" ? [[entry.conversation, entry.seq] as const] : [],
    ),
  )
  return (conversation: string, id: string): boolean =>
    (surviving.get(conversation) ?? [])
      .slice(0, inherited.get(conversation) ?? 0)
      .some((event) => event.id === id)
}

/** L10: every conversation that was created and every message that was acknowledged exists after the crash. */
export const acknowledgedIsRecorded = ({ conversations, run }: History): ReadonlyArray<string> => {
  const { beforeCrash, end, surviving } = run
  if (beforeCrash === undefined || surviving === undefined || end !== "done") return []
  const { calls } = historyOf(beforeCrash)
  const isOfParent = inheritedIds(beforeCrash.trace, surviving)
  const removed = new Set(
    calls.flatMap(({ entry }) =>
      entry.operation.do === "remove" ? [entry.conversation ?? ""] : [],
    ),
  )
  const made = beforeCrash.trace.flatMap((entry) =>
    entry.at === "made" && !removed.has(entry.conversation) && !surviving.has(entry.conversation)
      ? [`${entry.conversation} was created, and does not exist after the crash`]
      : [],
  )
  const messages = calls.flatMap((call) => {
    const { conversation = "", operation } = call.entry
    const receipt = receiptOf(call)
    const log = conversations.get(conversation)
    if (operation.do !== "submit" || receipt === undefined || log === undefined) return []
    if (receipt.disposition === "none" || !["input", "turn"].includes(operation.what)) return []
    if (operation.id !== undefined && isOfParent(conversation, receipt.id)) return []
    // The receipt for a repeated id describes the first submission with that id; of two at the same time either is the first.
    const same = submissionsWith(calls, conversation, operation.id)
    if (operation.id !== undefined && same[0] !== call) return []
    const texts = operation.id === undefined ? [operation.text] : same.map(textOf)
    const isRecorded = log.durable.some(
      ({ event: { id, msg } }) =>
        (msg.type === "user_message" && texts.includes(msg.message)) ||
        // It was queued, and an interrupt dropped it.
        (receipt.disposition === "waiting" && id === receipt.id && msg.type === "turn_aborted"),
    )
    return isRecorded
      ? []
      : [`acknowledged, but not recorded after the crash: ${describeCall(call)}`]
  })
  return [...made, ...messages]
}

/** L10: an answer that was accepted is recorded, and so is the verdict that the tool got. */
export const answersAreRecorded = ({ run }: History): ReadonlyArray<string> =>
  (run.beforeCrash?.trace ?? []).flatMap((entry) => {
    const isAnswer =
      (entry.at === "replied" && entry.answer.is === "ok") ||
      (entry.at === "verdict" && entry.reason === "answered")
    const log = isAnswer ? run.surviving?.get(entry.conversation) : undefined
    if (!isAnswer || log === undefined) return []
    const recorded = log.some(
      ({ msg }) =>
        msg.type === "approval_resolved" &&
        msg.call_id === entry.question &&
        msg.decision === entry.decision,
    )
    return recorded
      ? []
      : [`${entry.question} was answered ${entry.decision}, which is not recorded`]
  })

/** L10: a submission that is sent again after the crash gets its first receipt again. */
export const receiptsSurvive = ({ calls, run }: History): ReadonlyArray<string> => {
  if (run.beforeCrash === undefined) return []
  const earlier = historyOf(run.beforeCrash).calls
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
      : [`${describeCall(call)} after ${JSON.stringify(had)}`]
  })
}

/** L16: a writer that lost its lease writes nothing more, and the generations of a conversation's writers never decrease. */
export const oneWriter = ({ run }: History): ReadonlyArray<string> => writersOf(run.trace)

/** What writers do in a trace that they must not. */
export const writersOf = (trace: History["run"]["trace"]): ReadonlyArray<string> => {
  const latest = new Map<string, number>()
  return trace.flatMap((entry) => {
    if (entry.at !== "append") return []
    const { conversation, generation, how } = entry
    if (how === "stale") return [`${conversation}: writer ${generation} writes without its lease`]
    const last = latest.get(conversation) ?? 0
    if (how !== undefined) return []
    latest.set(conversation, generation)
    return generation < last ? [`${conversation}: writer ${generation} after ${last}`] : []
  })
}
