/** L3 over the history of a run: conversations start with `session_configured` and are listed from then on. Pure. */
import type { Call, History } from "../trace/History.ts"
import { describeCall } from "./DescribeCall.ts"

/** Ids of the conversations that were created before the call and of which no removal had started when it was answered. */
export const existedThroughout = ({ calls, run }: History, list: Call): ReadonlyArray<string> => {
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

/** L3: a conversation starts with `session_configured`; a refused creation leaves nothing behind. */
export const startsConfigured = ({ conversations }: History): ReadonlyArray<string> =>
  [...conversations.values()].flatMap(({ id, durable }) => {
    const first = durable[0]?.event
    const count = durable.filter(({ event }) => event.msg.type === "session_configured").length
    return first?.seq === 0 &&
      first.msg.type === "session_configured" &&
      first.msg.session_id === id &&
      count === 1
      ? []
      : [`${id} starts with ${JSON.stringify(first)} and has ${count} session_configured`]
  })

/** L3: a conversation that exists throughout is listed once, on one of the pages; the list is never longer than the limit. */
export const listed = (history: History): ReadonlyArray<string> => {
  const made = new Set(
    history.run.trace.flatMap((entry) => (entry.at === "made" ? [entry.conversation] : [])),
  )
  // A store may complete a creation or a deletion after its caller has timed out, and may fail to delete: each leaves a
  // conversation behind.
  const left = history.run.trace.some(
    (entry) =>
      entry.at === "store" &&
      ((entry.operation === "create" && entry.how === "late") ||
        (entry.operation === "delete" && (entry.how === "fails" || entry.how === "late"))),
  )
  return history.calls.flatMap((call) => {
    const answer = call.answers[0]?.answer
    const { operation } = call.entry
    if ((operation.do !== "list" && operation.do !== "pages") || answer?.is !== "ok") return []
    const ids = answer.value as ReadonlyArray<string>
    const strangers = made.size === 0 || left ? [] : ids.filter((id) => !made.has(id))
    return [
      ...(ids.length <= history.run.plan.maxConversations
        ? []
        : [`too many: ${describeCall(call)}`]),
      ...(new Set(ids).size === ids.length
        ? []
        : [`a conversation is listed twice: ${describeCall(call)}`]),
      ...existedThroughout(history, call)
        .filter((id) => !ids.includes(id))
        .map((id) => `${id} is missing: ${describeCall(call)}`),
      ...strangers.map((id) => `${id} was never created: ${describeCall(call)}`),
    ]
  })
}
