/** The laws for clients of app-server v2 (packages/docs/laws.md), each as a check over one of the connections of a run. Pure. */
import {
  ItemCompleted,
  ItemStarted,
  ServerRequestResolved,
  ThreadClosed,
  TurnCompleted,
  TurnStarted,
  Warning,
} from "@colloquy/protocol/thread/Notifications"
import { ThreadRead } from "@colloquy/protocol/thread/Threads"
import { TurnStart } from "@colloquy/protocol/thread/Turns"
import type { Violation } from "../Laws.ts"
import {
  type ConnectionHistory,
  connectionsOf,
  isRequest,
  isResponse,
  type WireMessage,
} from "../wire/WireHistory.ts"
import { answeredOnce, endsInTime } from "../wire/WireLaws.ts"
import { at } from "../stateless/StatelessKnown.ts"
import type { ThreadClientPlan, ThreadStep } from "./ThreadPlan.ts"
import {
  allowedByClients,
  answeredAtOnce,
  interruptedInTime,
  notifiedAtOnce,
} from "./laws/ThreadPromptness.ts"
import { queuedInputIsKept, queuedInputIsSent, queueIsInOrder } from "./laws/ThreadQueues.ts"
import { namedTurnEnds } from "./laws/ThreadEnds.ts"
import { failureLeavesNothing, namedFirst } from "./laws/ThreadStarts.ts"
import {
  acknowledgedIsStored,
  nothingStillRuns,
  oneWriter,
  readAfterCrash,
  readBeforeLoadHolds,
} from "./laws/ThreadStorage.ts"
import { isItem, keyOf, type RunCheck, turnOf } from "./laws/ThreadCheck.ts"
import { brokenItems } from "./laws/ThreadItems.ts"
import type { ThreadRun } from "./ThreadWorld.ts"

type History = ConnectionHistory<ThreadClientPlan>
type Check = (connection: History) => ReadonlyArray<string>

const param = (message: WireMessage | undefined, ...path: ReadonlyArray<string>): unknown =>
  at(message?.params, ...path)

const notifications = ({ received }: History): ReadonlyArray<WireMessage> =>
  received.filter((message) => message.method !== undefined && message.id === undefined)

const turnsOf = (messages: ReadonlyArray<WireMessage>): ReadonlyArray<string> => [
  ...new Set(messages.flatMap((one) => turnOf(one) ?? [])),
]

const textOf = (input: unknown): unknown =>
  Array.isArray(input) ? at(input[0], "text") : undefined

/** L2: nothing of a turn is notified before the response to the request that started it. */
const nothingBeforeResponse: Check = (connection) =>
  connection.sent.flatMap((request) => {
    if (request.method !== TurnStart._tag) return []
    const response = connection.received.find((one) => isResponse(one) && one.id === request.id)
    const turnId = at(response?.result, "turn", "id")
    if (response === undefined || turnId === undefined) return []
    const own = notifications(connection).filter((one) => turnOf(one) === keyOf(request, turnId))
    // A request may join the turn that another one has started.
    const first = own.find(({ method }) => method === ItemStarted._tag)
    const isStarter = textOf(param(first, "item", "content")) === textOf(param(request, "input"))
    // A client that had left the thread may know the turn by the input that joined it.
    const isFirst = String(param(first, "item", "id")).endsWith("/user_message/0")
    if (!isStarter || !isFirst) return []
    return own.flatMap((one) =>
      one.at < response.at
        ? [`${one.method} of turn ${keyOf(request, turnId)} before the response that names it`]
        : [],
    )
  })

/** The thread that a notification or a response is about; empty for none. */
const threadOf = (one: WireMessage): string => {
  const id = param(one, "threadId") ?? at(one.result, "thread", "id")
  return typeof id === "string" ? id : ""
}

/**
 * The messages of each thread, in the parts in which each turn ends at most once. A turn that waits for an answer when another
 * process takes its thread over ends for this client, which is notified that the thread is closed; it goes on where the
 * thread is used next, which may be here.
 */
const untilTakenOver = (
  messages: ReadonlyArray<WireMessage>,
): ReadonlyArray<ReadonlyArray<WireMessage>> => {
  const parts: Array<Array<WireMessage>> = []
  const last = new Map<string, Array<WireMessage>>()
  const takenOver = new Set<string>()
  for (const one of messages) {
    const thread = threadOf(one)
    const part = last.get(thread) ?? []
    if (part.length === 0) parts.push(part)
    part.push(one)
    last.set(thread, part)
    if (one.method === Warning._tag) {
      const text = String(param(one, "message"))
      if (text.endsWith("was taken over by another writer")) takenOver.add(thread)
    } else if (one.method === ThreadClosed._tag && takenOver.delete(thread)) last.delete(thread)
  }
  return parts
}

/** L5: a turn ends once, after all its items, and before the next turn of its thread starts. */
const endsOnceAndLast: Check = (connection) =>
  untilTakenOver(notifications(connection)).flatMap((all) => endsIn(all, hasLeft(connection)))

const endsIn = (all: ReadonlyArray<WireMessage>, hasMissed: boolean): ReadonlyArray<string> =>
  turnsOf(all).flatMap((turnId) => {
    const own = all.filter((one) => turnOf(one) === turnId)
    const starts = own.filter(({ method }) => method === TurnStarted._tag)
    const ends = own.filter(({ method }) => method === TurnCompleted._tag)
    const [start] = starts
    const [end] = ends
    const late = own.filter((one) => end !== undefined && one.at > end.at && isItem(one))
    const next = all.find(
      (one) =>
        one.method === TurnStarted._tag &&
        start !== undefined &&
        one.at > start.at &&
        param(one, "threadId") === param(start, "threadId"),
    )
    return [
      ...(starts.length > 1 && !hasMissed ? [`turn ${turnId} starts ${starts.length} times`] : []),
      ...(ends.length > 1 ? [`turn ${turnId} ends ${ends.length} times`] : []),
      ...late.map(({ method }) => `${method} of turn ${turnId} after its end`),
      ...(next !== undefined && (end === undefined || end.at > next.at) && !hasMissed
        ? [`turn ${turnId} has not ended when the next one starts`]
        : []),
    ]
  })

/** True for a client that may have missed notifications because it ended a subscription. */
const hasLeft = ({ plan }: History): boolean =>
  plan.steps.some((step) => ["unsubscribe", "archive", "unarchive"].includes(step.do))

/** L4: an item starts before its deltas, which are its whole text, and completes before its turn. */
const itemsAreWhole: Check = (connection) =>
  hasLeft(connection)
    ? []
    : untilTakenOver(connection.received).flatMap((all) => brokenItems(connection, all))

/** The items that a turn has completed, and those that are stored of it. */
const comparable = (
  own: ReadonlyArray<WireMessage>,
  turn: unknown,
): readonly [sent: ReadonlyArray<unknown>, stored: ReadonlyArray<unknown>] => {
  const items = at(turn, "items")
  const stored: ReadonlyArray<unknown> = Array.isArray(items) ? items : []
  const ends = own.filter(({ method }) => method === ItemCompleted._tag)
  // A text whose request was repeated completes again.
  const live = ends.flatMap((one, index) => {
    const id = param(one, "item", "id")
    const later = ends.slice(index + 1).some((other) => param(other, "item", "id") === id)
    return later ? [] : [param(one, "item")]
  })
  return [live, stored]
}

/** True for a turn that the input of another client has begun before this one joined it: it got what was open then. */
const isJoined = ({ sent }: History, own: ReadonlyArray<WireMessage>, turn: unknown): boolean => {
  const items = at(turn, "items")
  const first: unknown = Array.isArray(items) ? items[0] : undefined
  const isOwn = sent.some((one) => textOf(param(one, "input")) === textOf(at(first, "content")))
  return (
    at(first, "type") === "userMessage" &&
    !isOwn &&
    !own.some((one) => param(one, "item", "id") === at(first, "id"))
  )
}

/** L11: a turn that is read back has the items that were notified, with the same ids and contents. */
const readBackAsNotified: Check = (connection) =>
  hasLeft(connection)
    ? []
    : connection.sent.flatMap((request) => {
        if (request.method !== ThreadRead._tag) return []
        const response = connection.received.find((one) => isResponse(one) && one.id === request.id)
        const turns = at(response?.result, "thread", "turns")
        if (response === undefined || !Array.isArray(turns)) return []
        const before = notifications(connection).filter((one) => one.at < response.at)
        // What could not be recorded is not read back.
        const isUnrecorded = connection.failures.some(
          ({ conversation }) => conversation === param(request, "threadId"),
        )
        if (isUnrecorded) return []
        return turns.flatMap((turn) => {
          const own = before.filter((one) => turnOf(one) === keyOf(request, at(turn, "id")))
          const isSeen =
            own.some(({ method }) => method === TurnStarted._tag) &&
            own.some(({ method }) => method === TurnCompleted._tag)
          const [sent, kept] = comparable(own, turn).map(contentOf)
          // The response may arrive after the end of a turn that ran when it was made.
          const isRunning = at(turn, "status") === "inProgress"
          return !isSeen || isRunning || sent === kept || isJoined(connection, own, turn)
            ? []
            : [`turn ${String(at(turn, "id"))}: ${sent} was sent, ${kept} is read back`]
        })
      })

/** The items with their times. */
const contentOf = (items: unknown): string => JSON.stringify(items)

/** L7: a question is resolved once, and no later than the end of its turn. */
const questionsAreResolved: Check = (connection) => {
  const resolved = notifications(connection).filter(
    ({ method }) => method === ServerRequestResolved._tag,
  )
  return connection.received.filter(isRequest).flatMap((question) => {
    const own = resolved.filter((one) => param(one, "requestId") === question.id)
    const turn = turnOf(question)
    const end = notifications(connection).find(
      (one) => one.method === TurnCompleted._tag && turnOf(one) === turn,
    )
    return [
      ...(own.length > 1 ? [`question ${String(question.id)} is resolved twice`] : []),
      ...(end !== undefined && own.length === 0 && !hasLeft(connection)
        ? [`question ${String(question.id)} is open when its turn ends`]
        : []),
    ]
  })
}

const isRefused = (step: ThreadStep): step is Extract<ThreadStep, { readonly do: "garbage" }> =>
  step.do === "garbage" && step.what !== "noise" && step.what !== "answer to nothing"

/** L13: a request that cannot be served gets an error that says why, and the server continues. */
const badRequestsAreReported: Check = ({ name, over, plan, received }) => [
  ...(over?.how === "died" ? [`the server of connection ${name} failed`] : []),
  ...plan.steps.filter(isRefused).flatMap(({ id, what }) => {
    const response = received.find((one) => isResponse(one) && one.id === id)
    // A store that fails may be asked about the thread first.
    const isFault = /injected|in use by another process/.test(response?.text ?? "")
    return response === undefined || response.error?.code === -32600 || isFault
      ? []
      : [`${what} is answered with ${response.text}`]
  }),
]

interface ThreadLaw {
  readonly law: string
  /** What the check establishes, as a plain sentence. */
  readonly statement: string
  readonly check: RunCheck
}

/** The check of every connection. */
const each =
  (check: Check): RunCheck =>
  ({ connections }) =>
    connections.flatMap(check)

/** Every check of a run of clients of app-server v2. */
export const threadLaws: ReadonlyArray<ThreadLaw> = [
  { law: "L1", statement: "every request is answered once", check: each(answeredOnce) },
  {
    law: "L2",
    statement: "nothing of a turn is sent before the response that names it",
    check: each(nothingBeforeResponse),
  },
  {
    law: "L4",
    statement: "an item is sent whole, from its start to its end",
    check: each(itemsAreWhole),
  },
  { law: "L5", statement: "a turn is sent its end once, last", check: each(endsOnceAndLast) },
  {
    law: "L7",
    statement: "a question is resolved once, before its turn ends",
    check: each(questionsAreResolved),
  },
  {
    law: "L9",
    statement: "the server ends within its bound after its input",
    check: each(endsInTime),
  },
  {
    law: "L11",
    statement: "a turn is read back with the items that were sent",
    check: each(readBackAsNotified),
  },
  {
    law: "L13",
    statement: "a bad request is reported, and the server continues",
    check: each(badRequestsAreReported),
  },
  { law: "L3", statement: "a thread is named before it is notified of", check: namedFirst },
  { law: "L3", statement: "a start that fails leaves nothing", check: failureLeavesNothing },
  { law: "L4", statement: "queued input starts in its order", check: queueIsInOrder },
  { law: "L5", statement: "a turn that a response names is sent its end", check: namedTurnEnds },
  { law: "L5", statement: "queued input starts one turn, or is removed", check: queuedInputIsKept },
  { law: "L5", statement: "queued input is what clients gave", check: queuedInputIsSent },
  { law: "L6", statement: "a client that reads is answered at once", check: answeredAtOnce },
  { law: "L6", statement: "a client that reads is notified at once", check: notifiedAtOnce },
  { law: "L8", statement: "nothing runs after the server has closed", check: nothingStillRuns },
  { law: "L10", statement: "what is acknowledged is stored", check: acknowledgedIsStored },
  { law: "L11", statement: "a thread is read back after a crash", check: readAfterCrash },
  { law: "L11", statement: "what is read before a load holds", check: readBeforeLoadHolds },
  { law: "L14", statement: "an interrupted turn ends in time", check: interruptedInTime },
  { law: "L15", statement: "a call that asks needs a client", check: allowedByClients },
  { law: "L16", statement: "one writer at a time records a thread", check: oneWriter },
]

/** Every violation of a run; a run that does not end breaks L1. */
export const threadViolationsOf = (run: ThreadRun): ReadonlyArray<Violation> => {
  const history = { run, connections: connectionsOf(run) }
  return [
    ...(run.end === "done" ? [] : [{ law: "L1", what: `the run is ${run.end}` }]),
    ...threadLaws.flatMap(({ law, statement, check }) =>
      check(history).map((what) => ({ law, what: `${statement}: ${what}` })),
    ),
    ...(run.afterRestart === undefined ? [] : threadViolationsOf(run.afterRestart)),
  ]
}
