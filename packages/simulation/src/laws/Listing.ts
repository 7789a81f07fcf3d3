/** L3 over a story: conversations begin as they should and are found from then on. Pure. */
import type { Call, History } from "../trace/History.ts"
import { show } from "./DescribeCall.ts"

/** Conversations that were made before the call and that nobody had begun to end when it was answered. */
export const livedThrough = ({ calls, run }: History, list: Call): ReadonlyArray<string> => {
  const answered = list.answers[0]?.at ?? 0
  if (run.trace.slice(0, answered).some(({ at }) => at === "closing")) return []
  return calls.flatMap((call) => {
    const made = call.answers[0]
    const makes = call.entry.operation.do === "create" || call.entry.operation.do === "fork"
    if (!makes || made?.answer.is !== "ok" || made.at > list.at) return []
    const id = String(made.answer.value)
    const ending = calls.some(
      ({ at, entry: { conversation, operation } }) =>
        at < answered && conversation === id && operation.do === "remove",
    )
    return ending ? [] : [id]
  })
}

/** L3: a conversation begins with `session_configured`; a refused one leaves nothing. */
export const beginsConfigured = ({ conversations }: History): ReadonlyArray<string> =>
  [...conversations.values()].flatMap(({ id, durable }) => {
    const first = durable[0]?.event
    const count = durable.filter(({ event }) => event.msg.type === "session_configured").length
    return first?.seq === 0 &&
      first.msg.type === "session_configured" &&
      first.msg.session_id === id &&
      count === 1
      ? []
      : [`${id} begins with ${JSON.stringify(first)}, ${count} session_configured`]
  })

/** L3: who lives throughout is on the list once, on one page or another; the list is as long as the limit at most. */
export const listed = (story: History): ReadonlyArray<string> => {
  const made = new Set(
    story.run.trace.flatMap((entry) => (entry.at === "made" ? [entry.conversation] : [])),
  )
  // Left there may be one that a store makes after all, when nobody waits for it any more, and one that it does not forget.
  const left = story.run.trace.some(
    (entry) =>
      entry.at === "store" &&
      ((entry.operation === "create" && entry.how === "late") ||
        (entry.operation === "delete" && entry.how === "fails")),
  )
  return story.calls.flatMap((call) => {
    const answer = call.answers[0]?.answer
    const { operation } = call.entry
    if ((operation.do !== "list" && operation.do !== "pages") || answer?.is !== "ok") return []
    const ids = answer.value as ReadonlyArray<string>
    const strangers = made.size === 0 || left ? [] : ids.filter((id) => !made.has(id))
    return [
      ...(ids.length <= story.run.plan.maxConversations ? [] : [`too many: ${show(call)}`]),
      ...(new Set(ids).size === ids.length ? [] : [`one twice: ${show(call)}`]),
      ...livedThrough(story, call)
        .filter((id) => !ids.includes(id))
        .map((id) => `${id} is missing: ${show(call)}`),
      ...strangers.map((id) => `${id} was never made: ${show(call)}`),
    ]
  })
}
