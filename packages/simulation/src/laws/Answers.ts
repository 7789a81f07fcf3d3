/** L1, L2 and L13 over a story: how operations are answered. Pure. */
import { isCount, restMs } from "../scenario/Plan.ts"
import type { Answer } from "../trace/Trace.ts"
import { type Call, receiptOf, type History } from "../trace/History.ts"
import { livedThrough } from "./Listing.ts"
import { show } from "./DescribeCall.ts"

/** L1: every operation is answered once; also when its conversation ends under it. */
export const answeredOnce = ({ calls, run }: History): ReadonlyArray<string> => [
  ...calls.filter(({ answers }) => answers.length !== 1).map(show),
  ...(run.end === "done" ? [] : [`the run is ${run.end}`]),
]

/** L2: what a receipt says follows it. */
export const receiptsHold = ({ calls, conversations }: History): ReadonlyArray<string> =>
  calls.flatMap((call) => {
    const receipt = receiptOf(call)
    const { operation, conversation = "" } = call.entry
    const log = conversations.get(conversation)
    if (receipt === undefined || log === undefined || operation.do !== "submit") return []
    if (log.inheritedIds.has(receipt.id)) return []
    const own = log.events.filter(({ event }) => event.id === receipt.id)
    const has = (type: string) => own.some(({ event }) => event.msg.type === type)
    const early = own.find(({ at }) => at < call.at)
    // An id that repeats tells of the first submission that had it.
    const repeats = calls.some(
      (other) =>
        other !== call &&
        other.entry.conversation === conversation &&
        other.entry.operation.do === "submit" &&
        other.entry.operation.id !== undefined &&
        other.entry.operation.id === operation.id,
    )
    // A summary is asked for without a text of the client's.
    const said =
      operation.what === "compact" ||
      own.some(
        ({ event: { msg } }) => msg.type === "user_message" && msg.message === operation.text,
      )
    switch (receipt.disposition) {
      case "started":
        return [
          ...(has("task_started") ? [] : [`started, but no task_started: ${show(call)}`]),
          ...(said || repeats ? [] : [`started, but its text is not there: ${show(call)}`]),
          ...(early === undefined || repeats
            ? []
            : [`its events came before the call: ${show(call)}`]),
        ]
      case "joined":
        return said || repeats ? [] : [`joined, but its text is not there: ${show(call)}`]
      case "waiting":
        return has("task_started") || has("turn_aborted")
          ? []
          : [`waited, and nothing came of it: ${show(call)}`]
      default:
        return has("task_started") && !repeats ? [`none, but a turn started: ${show(call)}`] : []
    }
  })

/** What each operation may fail with. */
const errors: Readonly<Record<string, ReadonlyArray<string>>> = {
  create: ["TooManyConversations", "ManagerClosed"],
  submit: ["NoSuchConversation", "ManagerClosed", "ConversationClosed", "SubmissionRefused"],
  cancel: ["NoSuchConversation", "ManagerClosed"],
  attach: ["NoSuchConversation", "ManagerClosed", "EventsFromFuture", "TooManyListeners"],
  get: ["NoSuchConversation", "ManagerClosed"],
  remove: ["NoSuchConversation", "ManagerClosed"],
  list: [],
  pages: [],
  fork: ["BadForkRule", "NoSuchConversation", "TooManyConversations", "ManagerClosed"],
  badPage: ["BadCursor", "BadPageLimit"],
}

/** Where a store is small, slow or broken it may say so, or a conversation may not be there for a while. */
const mayBeAway = ({ run }: History, { entry, answers }: Call): boolean => {
  const answer = answers[0]?.answer
  const { appendFaults, faults, idleMs } = run.plan.store
  // Whoever holds one that was removed is told so.
  if (answer?.is === "error" && answer.reason === "it was removed") return true
  return (
    answer?.is === "error" &&
    (answer.tag === "StoreError" || answer.tag === "ConversationUnavailable") &&
    (idleMs < restMs || appendFaults.length + faults.length > 0) &&
    (entry.operation.do in errors || entry.operation.do === "badPage")
  )
}

const tagOf = (answer: Answer | undefined) =>
  answer?.is === "error" ? (answer.reason ?? answer.tag) : answer?.is

/** L13: there is no such page; of the cursor of a conversation that is gone nobody can tell. */
const noPage = (story: History, call: Call): ReadonlyArray<string> => {
  const { operation, conversation = "" } = call.entry
  if (operation.do !== "badPage") return []
  const tag = tagOf(call.answers[0]?.answer)
  const expected = operation.what === "limit" ? "BadPageLimit" : "BadCursor"
  const free = operation.what === "moved" && !livedThrough(story, call).includes(conversation)
  return tag === expected || (free && tag === "ok") ? [] : [`${expected} expected: ${show(call)}`]
}

/** L13: a bad operation gets an error that says what is wrong, and nothing else happens. */
export const badInputIsTold = (story: History): ReadonlyArray<string> =>
  story.calls.flatMap((call) => {
    const { operation, conversation } = call.entry
    const answer = call.answers[0]?.answer
    if (answer === undefined || answer.is === "interrupted" || mayBeAway(story, call)) return []
    if (answer.is === "died") return [`a defect: ${show(call)}`]
    if (answer.is === "error" && !(errors[operation.do] ?? []).includes(answer.tag)) {
      return [`an unknown error: ${show(call)}`]
    }
    if (operation.do === "badPage") return noPage(story, call)
    if (operation.do === "fork" && !isCount(operation.rule)) {
      const told = ["BadForkRule", "ManagerClosed"].includes(tagOf(answer) ?? "")
      return told ? [] : [`a rule that cannot be counted: ${show(call)}`]
    }
    if ("slot" in operation && operation.do !== "create" && conversation === undefined) {
      const missing = ["NoSuchConversation", "ManagerClosed"].includes(tagOf(answer) ?? "")
      return missing ? [] : [`nobody is there: ${show(call)}`]
    }
    if (operation.do !== "submit") return []
    const gone = ["ConversationClosed", "NoSuchConversation", "ManagerClosed", "DuplicateId"]
    const expected = { unsupported: "UnsupportedOp", big: "TooLarge" }[operation.what as string]
    const repeated = operation.id !== undefined && answer.is === "ok"
    if (expected !== undefined && !repeated && ![...gone, expected].includes(tagOf(answer) ?? "")) {
      return [`${expected} expected: ${show(call)}`]
    }
    const text = JSON.stringify(operation.text)
    const told = story.conversations
      .get(conversation ?? "")
      ?.durable.some(({ event }) => JSON.stringify(event.msg).includes(text))
    return answer.is === "error" && told === true ? [`refused, yet told: ${show(call)}`] : []
  })

/** L13: one id, one submission: it is told once, and every receipt for it is the same. */
export const repeatsAreHarmless = ({ calls, conversations }: History): ReadonlyArray<string> => {
  const groups = Map.groupBy(
    calls.filter(
      ({ entry: { operation } }) => operation.do === "submit" && operation.id !== undefined,
    ),
    ({ entry: { conversation, operation } }) =>
      `${conversation} ${operation.do === "submit" ? operation.id : ""}`,
  )
  return [...groups].flatMap(([name, group]) => {
    const receipts = new Set(group.flatMap((call) => JSON.stringify(receiptOf(call)) ?? []))
    const texts = group.flatMap(({ entry: { operation, conversation = "" } }) =>
      operation.do === "submit"
        ? (conversations.get(conversation)?.durable ?? []).filter(
            ({ event: { msg } }) => msg.type === "user_message" && msg.message === operation.text,
          )
        : [],
    )
    return receipts.size > 1 || texts.length > 1
      ? [`${name}: ${[...receipts].join(" ")}, told ${texts.length} times`]
      : []
  })
}
