/** L1, L2 and L13 over the history of a run: how operations are answered. Pure. */
import { isCount, restMs } from "../scenario/Plan.ts"
import type { Answer } from "../trace/Trace.ts"
import { type Call, receiptOf, type History } from "../trace/History.ts"
import { existedThroughout } from "./Listing.ts"
import { describeCall } from "./DescribeCall.ts"

/** L1: every operation is answered once, also when its conversation ends while the operation runs. */
export const answeredOnce = ({ calls, run }: History): ReadonlyArray<string> => [
  ...calls.filter(({ answers }) => answers.length !== 1).map(describeCall),
  ...(run.end === "done" ? [] : [`the run ended as ${run.end}`]),
]

/** True when another submission of the conversation uses the same chosen id: its receipt describes the first submission with that id. */
const isRepeated = (call: Call, calls: ReadonlyArray<Call>): boolean => {
  const { conversation, operation } = call.entry
  return calls.some(
    (other) =>
      other !== call &&
      other.entry.conversation === conversation &&
      other.entry.operation.do === "submit" &&
      operation.do === "submit" &&
      other.entry.operation.id !== undefined &&
      other.entry.operation.id === operation.id,
  )
}

/** L2: what a receipt announces happens. */
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
    const repeats = isRepeated(call, calls)
    // A request for a summary carries no text of the client.
    const hasText =
      operation.what === "compact" ||
      own.some(
        ({ event: { msg } }) => msg.type === "user_message" && msg.message === operation.text,
      )
    switch (receipt.disposition) {
      case "started":
        return [
          ...(has("task_started") ? [] : [`started, but no task_started: ${describeCall(call)}`]),
          ...(hasText || repeats
            ? []
            : [`started, but its text is missing: ${describeCall(call)}`]),
          ...(early === undefined || repeats
            ? []
            : [`its events came before the call: ${describeCall(call)}`]),
        ]
      case "joined":
        return hasText || repeats ? [] : [`joined, but its text is missing: ${describeCall(call)}`]
      case "waiting":
        return has("task_started") || has("turn_aborted")
          ? []
          : [`waited, but neither started nor ended: ${describeCall(call)}`]
      default:
        return has("task_started") && !repeats
          ? [`receipt without a turn, but a turn started: ${describeCall(call)}`]
          : []
    }
  })

/** The errors that each operation may fail with. */
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

/** True for a client that holds a conversation which another one removes, or whose manager closes, and that is told so. */
const isExplainedByRemoval = ({ calls, run }: History, { at, entry, answers }: Call): boolean => {
  const [last] = answers
  if (last?.answer.is !== "error" || last.answer.tag !== "ConversationUnavailable") return false
  const removals = calls.filter(
    (other) =>
      other.entry.operation.do === "remove" &&
      other.entry.conversation === entry.conversation &&
      other.at < last.at,
  )
  switch (last.answer.reason) {
    case "it is being removed":
      return removals.some((removal) => removal.answers.every((end) => end.at > at))
    case "it was removed":
      return removals.some((removal) =>
        removal.answers.every(({ answer }) => answer.is !== "error"),
      )
    case "it is being closed":
      return run.trace.slice(0, last.at).some((earlier) => earlier.at === "closing")
    default:
      return false
  }
}

/** True for an error that a small, slow or failing store explains: its own error, or a conversation that is unavailable for a while. */
const isExplainedByStore = ({ run }: History, { entry, answers }: Call): boolean => {
  const answer = answers[0]?.answer
  const { appendFaults, faults, idleMs } = run.plan.store
  return (
    answer?.is === "error" &&
    (answer.tag === "StoreError" || answer.tag === "ConversationUnavailable") &&
    (idleMs < restMs || appendFaults.length + faults.length > 0) &&
    (entry.operation.do in errors || entry.operation.do === "badPage")
  )
}

/** True for a removal of a conversation that another process has taken over: it is that process's now (L16). */
const isExplainedByTheft = ({ run }: History, { entry, answers }: Call): boolean => {
  const answer = answers[0]?.answer
  return (
    entry.operation.do === "remove" &&
    answer?.is === "error" &&
    answer.tag === "LeaseHeld" &&
    run.plan.store.appendFaults.some(({ how }) => how === "stolen")
  )
}

const tagOf = (answer: Answer | undefined) =>
  answer?.is === "error" ? (answer.reason ?? answer.tag) : answer?.is

/** L13: an invalid page request is refused; the cursor of a conversation that no longer exists may be accepted. */
const badPageFaults = (history: History, call: Call): ReadonlyArray<string> => {
  const { operation, conversation = "" } = call.entry
  if (operation.do !== "badPage") return []
  const tag = tagOf(call.answers[0]?.answer)
  const expected = operation.what === "limit" ? "BadPageLimit" : "BadCursor"
  const free =
    operation.what === "moved" && !existedThroughout(history, call).includes(conversation)
  return tag === expected || (free && tag === "ok")
    ? []
    : [`${expected} expected: ${describeCall(call)}`]
}

/** L13: an invalid operation gets an error that names the fault, and has no other effect. */
export const badInputIsReported = (history: History): ReadonlyArray<string> =>
  history.calls.flatMap((call) => {
    const { operation, conversation } = call.entry
    const answer = call.answers[0]?.answer
    if (answer === undefined || answer.is === "interrupted") return []
    const explanations = [isExplainedByStore, isExplainedByRemoval, isExplainedByTheft]
    if (explanations.some((explains) => explains(history, call))) return []
    if (answer.is === "died") return [`a defect: ${describeCall(call)}`]
    if (answer.is === "error" && !(errors[operation.do] ?? []).includes(answer.tag)) {
      return [`an unknown error: ${describeCall(call)}`]
    }
    if (operation.do === "badPage") return badPageFaults(history, call)
    if (operation.do === "fork" && !isCount(operation.rule)) {
      const isRefused = ["BadForkRule", "ManagerClosed"].includes(tagOf(answer) ?? "")
      return isRefused
        ? []
        : [`a fork rule without a valid count is accepted: ${describeCall(call)}`]
    }
    if ("slot" in operation && operation.do !== "create" && conversation === undefined) {
      const missing = ["NoSuchConversation", "ManagerClosed"].includes(tagOf(answer) ?? "")
      return missing
        ? []
        : [`the conversation does not exist, and no error says so: ${describeCall(call)}`]
    }
    if (operation.do !== "submit") return []
    const gone = ["ConversationClosed", "NoSuchConversation", "ManagerClosed", "DuplicateId"]
    const expected = { unsupported: "UnsupportedOp", big: "TooLarge" }[operation.what as string]
    const repeated = operation.id !== undefined && answer.is === "ok"
    if (expected !== undefined && !repeated && ![...gone, expected].includes(tagOf(answer) ?? "")) {
      return [`${expected} expected: ${describeCall(call)}`]
    }
    const text = JSON.stringify(operation.text)
    const isRecorded = history.conversations
      .get(conversation ?? "")
      ?.durable.some(({ event }) => JSON.stringify(event.msg).includes(text))
    return answer.is === "error" && isRecorded === true
      ? [`refused, but recorded: ${describeCall(call)}`]
      : []
  })

/** L13: submissions with one id are one submission: its message is recorded once, and every receipt for it is the same. */
export const repeatsAreIdempotent = ({ calls, conversations }: History): ReadonlyArray<string> => {
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
      ? [`${name}: ${[...receipts].join(" ")}, recorded ${texts.length} times`]
      : []
  })
}
