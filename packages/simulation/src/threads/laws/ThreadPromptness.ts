/** L6 and L14 for threads: no request waits for another client, and an interrupt ends its turn in time. Pure. */
import {
  ItemCompleted,
  ServerRequestResolved,
  TurnCompleted,
  TurnStarted,
} from "@colloquy/protocol/thread/Notifications"
import {
  ThreadNameSet,
  ThreadQueueAdd,
  ThreadQueueDelete,
  ThreadQueueList,
  ThreadQueueReorder,
  ThreadQueueStart,
  ThreadQueueUpdate,
} from "@colloquy/protocol/thread/ThreadChanges"
import {
  ThreadList,
  ThreadRead,
  ThreadResume,
  ThreadStart,
} from "@colloquy/protocol/thread/Threads"
import { TurnInterrupt, TurnStart, TurnSteer } from "@colloquy/protocol/thread/Turns"
import { killGraceMs } from "../../scenario/Plan.ts"
import { at } from "../../stateless/StatelessKnown.ts"
import { isRequest } from "../../wire/WireHistory.ts"
import {
  answeredOf,
  notificationsOf,
  param,
  type RunCheck,
  succeededOf,
  type ThreadConnectionHistory,
} from "./ThreadCheck.ts"

/** Requests that wait for nothing. */
const immediate: ReadonlySet<string> = new Set(
  [
    ThreadStart,
    ThreadResume,
    ThreadRead,
    ThreadList,
    ThreadNameSet,
    ThreadQueueAdd,
    ThreadQueueDelete,
    ThreadQueueList,
    ThreadQueueReorder,
    ThreadQueueStart,
    ThreadQueueUpdate,
    TurnInterrupt,
    TurnStart,
    TurnSteer,
  ].map(({ _tag }) => _tag),
)

const isFast = ({ plan }: ThreadConnectionHistory): boolean => plan.reading.how === "fast"

/** L6: a client that reads is answered without time passing, whatever the others read. */
export const answeredAtOnce: RunCheck = ({ connections }) =>
  connections
    .filter(isFast)
    .flatMap((connection) =>
      answeredOf(connection).flatMap(({ request, response }) =>
        immediate.has(request.method ?? "") && response.ms > request.ms
          ? [`${request.method} of ${request.ms} ms is answered at ${response.ms} ms`]
          : [],
      ),
    )

/** L6: a client that reads gets a message of the model when it is finished, whatever the others read. */
export const notifiedAtOnce: RunCheck = ({ connections, run }) => {
  const finished = new Map<string, number>(
    run.trace.flatMap((entry) =>
      entry.at === "says" ? [[`${entry.conversation} ${entry.text}`, entry.ms] as const] : [],
    ),
  )
  return connections.filter(isFast).flatMap((connection) =>
    notificationsOf(connection).flatMap((one) => {
      if (one.method !== ItemCompleted._tag) return []
      const name = `${String(param(one, "threadId"))} ${String(param(one, "item", "text"))}`
      const ms = finished.get(name)
      // What could not be recorded is notified when the turn ends.
      const isLost = connection.failures.some(
        ({ conversation }) => conversation === param(one, "threadId"),
      )
      return ms === undefined || ms === one.ms || isLost
        ? []
        : [`message "${name}" of ${ms} ms is notified at ${one.ms} ms`]
    }),
  )
}

/** Bound of an interrupt in milliseconds: one second plus the kill grace. */
const boundMs = 1_000 + killGraceMs

/** L14: after the response to an interrupt the turn ends within the bound, and its questions are withdrawn by then. */
export const interruptedInTime: RunCheck = ({ connections }) =>
  connections.filter(isFast).flatMap((connection) => {
    const all = notificationsOf(connection)
    const { endedMs = Infinity, failures, plan } = connection
    // A client that has left a thread, or that ends, need not learn the end of the turn.
    const hasLeft = plan.steps.some(({ do: name }) => name === "unsubscribe")
    return succeededOf(connection).flatMap(({ request, response }) => {
      if (request.method !== TurnInterrupt._tag || hasLeft) return []
      const [threadId, turnId] = [param(request, "threadId"), param(request, "turnId")]
      const of = (method: string) =>
        all.find(
          (one) =>
            one.method === method &&
            param(one, "threadId") === threadId &&
            param(one, "turn", "id") === turnId,
        )
      const started = of(TurnStarted._tag)
      const isLost = failures.some(({ conversation }) => conversation === threadId)
      const until = response.ms + boundMs
      if (started === undefined || started.at > response.at || isLost || endedMs < until) return []
      const end = of(TurnCompleted._tag)
      const open = connection.received.filter(
        (one) =>
          isRequest(one) &&
          param(one, "turnId") === turnId &&
          !all.some(
            (other) =>
              other.method === ServerRequestResolved._tag &&
              param(other, "requestId") === one.id &&
              other.ms <= until,
          ),
      )
      return [
        ...(end !== undefined && end.ms <= until
          ? []
          : [`turn ${String(turnId)}: interrupted at ${response.ms} ms, ended at ${end?.ms}`]),
        ...open.map((one) => `question ${String(one.id)} is still open at ${until} ms`),
      ]
    })
  })

/** L15: a call that asks goes on only as often as clients have allowed it. */
export const allowedByClients: RunCheck = ({ connections, run }) => {
  const allowed = new Map<unknown, number>()
  // What was allowed for a session holds in its forks as well.
  let isForSession = false
  for (const { received, sent } of connections) {
    for (const answer of sent) {
      const decision = at(answer.result, "decision")
      if (decision !== "accept" && decision !== "acceptForSession") continue
      const question = received.find((one) => isRequest(one) && one.id === answer.id)
      const threadId = param(question, "threadId")
      allowed.set(threadId, (allowed.get(threadId) ?? 0) + 1)
      isForSession ||= decision === "acceptForSession"
    }
  }
  const passed = new Map<string, number>()
  for (const entry of run.trace) {
    if (entry.at !== "verdict" || !entry.decision.startsWith("approved")) continue
    passed.set(entry.conversation, (passed.get(entry.conversation) ?? 0) + 1)
  }
  return [...passed].flatMap(([threadId, times]) => {
    const most = isForSession ? Infinity : (allowed.get(threadId) ?? 0)
    return times <= most
      ? []
      : [`thread ${threadId}: ${times} calls went on, and clients allowed ${most}`]
  })
}
