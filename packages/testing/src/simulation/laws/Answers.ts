/** L1, L2, L3 and L13 over a story: how operations are answered. Pure. */
import type { Answer } from "../Trace.ts"
import { type Call, receiptOf, type Story } from "../Story.ts"

const show = ({ entry, answers }: Call): string =>
  `call ${entry.call} ${JSON.stringify(entry.operation)}: ${JSON.stringify(answers.map(({ answer }) => answer))}`

/** L1: every operation is answered once; also when its conversation ends under it. */
export const answeredOnce = ({ calls, run }: Story): ReadonlyArray<string> => [
  ...calls.filter(({ answers }) => answers.length !== 1).map(show),
  ...(run.end === "done" ? [] : [`the run is ${run.end}`]),
]

/** L2: what a receipt says follows it. */
export const receiptsHold = ({ calls, conversations }: Story): ReadonlyArray<string> =>
  calls.flatMap((call) => {
    const receipt = receiptOf(call)
    const { operation, conversation = "" } = call.entry
    const log = conversations.get(conversation)
    if (receipt === undefined || log === undefined || operation.do !== "submit") return []
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
    const said = own.some(
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

/** L3: a conversation begins with `session_configured` and is found from then on; a refused one leaves nothing. */
export const beginsConfigured = (story: Story): ReadonlyArray<string> => {
  const { conversations, calls, run } = story
  const firsts = [...conversations.values()].flatMap(({ id, durable }) => {
    const first = durable[0]?.event
    const count = durable.filter(({ event }) => event.msg.type === "session_configured").length
    return first?.seq === 0 &&
      first.msg.type === "session_configured" &&
      first.msg.session_id === id &&
      count === 1
      ? []
      : [`${id} begins with ${JSON.stringify(first)}, ${count} session_configured`]
  })
  const lists = calls.flatMap((call) => {
    const answer = call.answers[0]?.answer
    if (call.entry.operation.do !== "list" || answer?.is !== "ok") return []
    const listed = answer.value as ReadonlyArray<string>
    return [
      ...(listed.length <= run.plan.maxConversations ? [] : [`too many: ${show(call)}`]),
      ...missing(story, call, listed).map((id) => `${id} is missing: ${show(call)}`),
    ]
  })
  return [...firsts, ...lists]
}

/** Conversations that were made before the call and that nobody had begun to end when it was answered. */
const missing = ({ calls, run }: Story, list: Call, listed: ReadonlyArray<string>) => {
  const answered = list.answers[0]?.at ?? 0
  if (run.trace.slice(0, answered).some(({ at }) => at === "closing")) return []
  return calls.flatMap((call) => {
    const made = call.answers[0]
    if (call.entry.operation.do !== "create" || made?.answer.is !== "ok" || made.at > list.at) {
      return []
    }
    const id = String(made.answer.value)
    const ending = calls.some(
      ({ at, entry: { conversation, operation } }) =>
        at < answered &&
        conversation === id &&
        (operation.do === "remove" || (operation.do === "submit" && operation.what === "shutdown")),
    )
    return ending || listed.includes(id) ? [] : [id]
  })
}

/** What each operation may fail with. */
const errors: Readonly<Record<string, ReadonlyArray<string>>> = {
  create: ["TooManyConversations", "ConversationClosed", "ManagerClosed"],
  submit: ["NoSuchConversation", "ManagerClosed", "ConversationClosed", "SubmissionRefused"],
  cancel: ["NoSuchConversation", "ManagerClosed"],
  attach: ["NoSuchConversation", "ManagerClosed", "EventsFromFuture", "TooManyListeners"],
  get: ["NoSuchConversation", "ManagerClosed"],
  remove: ["NoSuchConversation"],
}

const tagOf = (answer: Answer | undefined) =>
  answer?.is === "error" ? (answer.reason ?? answer.tag) : answer?.is

/** L13: a bad operation gets an error that says what is wrong, and nothing else happens. */
export const badInputIsTold = ({ calls, conversations }: Story): ReadonlyArray<string> =>
  calls.flatMap((call) => {
    const { operation, conversation } = call.entry
    const answer = call.answers[0]?.answer
    if (answer === undefined || answer.is === "interrupted") return []
    if (answer.is === "died") return [`a defect: ${show(call)}`]
    if (answer.is === "error" && !(errors[operation.do] ?? []).includes(answer.tag)) {
      return [`an unknown error: ${show(call)}`]
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
    const told = conversations
      .get(conversation ?? "")
      ?.durable.some(({ event }) => JSON.stringify(event.msg).includes(text))
    return answer.is === "error" && told === true ? [`refused, yet told: ${show(call)}`] : []
  })

/** L13: one id, one submission: it is told once, and every receipt for it is the same. */
export const repeatsAreHarmless = ({ calls, conversations }: Story): ReadonlyArray<string> => {
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
