/** L1, L5, L7, L13 and L14 for tasks, as the responses to requests about them show them. Pure. */
import { TasksCancel, TasksGet } from "@colloquy/protocol/mcp/Tasks"
import type { WireMessage } from "../../wire/WireHistory.ts"
import { at, isMembers } from "../StatelessKnown.ts"
import { anHourMs } from "../StatelessPlan.ts"
import {
  answerTo,
  type Connection,
  isError,
  resultType,
  type StatelessHistory,
} from "../StatelessHistory.ts"

interface Asked {
  readonly connection: Connection
  readonly request: WireMessage
  readonly answer: WireMessage
  readonly task: string
}

/** Answered requests about tasks, of that method or of any. */
const askedOf = ({ connections }: StatelessHistory, method?: string): ReadonlyArray<Asked> =>
  connections.flatMap((connection) =>
    connection.sent.flatMap((request) => {
      const task = at(request, "params", "taskId")
      const wanted =
        method === undefined ? request.method?.startsWith("tasks/") : request.method === method
      const answer = wanted === true ? answerTo(connection, request) : undefined
      return typeof task === "string" && answer !== undefined
        ? [{ connection, request, answer, task }]
        : []
    }),
  )

interface Made {
  readonly principal: string
  readonly answer: WireMessage
}

const madeOf = ({ connections }: StatelessHistory): ReadonlyMap<string, Made> =>
  new Map(
    connections.flatMap(({ received, plan: { principal } }) =>
      received.flatMap((answer) => {
        const id = at(answer, "result", "taskId")
        return resultType(answer) === "task" && typeof id === "string"
          ? [[id, { principal, answer }] as const]
          : []
      }),
    ),
  )

/** L1: a client that received a task finds it for as long as it is kept. */
export const foundByOwner = (history: StatelessHistory): ReadonlyArray<string> => {
  const made = madeOf(history)
  return askedOf(history).flatMap(({ answer, connection, request, task }) => {
    const found = made.get(task)
    if (found === undefined || found.principal !== connection.plan.principal) return []
    // The task was created before its response was received, and is looked up after the request was sent.
    const surely = request.at > found.answer.at && request.ms < found.answer.ms + anHourMs - 120_000
    const missing = isError(answer) && !(answer.error?.code === -32602 && isUpdate(request))
    return surely && missing ? [`task ${task} is answered ${answer.text}`] : []
  })
}

const isUpdate = (request: WireMessage) => at(request, "params", "inputResponses") !== undefined

/** L13: a task of another principal is not visible. */
export const hiddenFromOthers = (history: StatelessHistory): ReadonlyArray<string> => {
  const made = madeOf(history)
  return askedOf(history).flatMap(({ answer, connection, task }) => {
    const owner = made.get(task)?.principal
    return owner === connection.plan.principal || isError(answer)
      ? []
      : [
          `${connection.plan.principal} gets task ${task} of ${owner ?? "no principal"}: ${answer.text}`,
        ]
  })
}

const ended: ReadonlySet<unknown> = new Set(["completed", "failed", "cancelled"])

/** L5: the final status of a task never changes. */
export const endsForGood = (history: StatelessHistory): ReadonlyArray<string> => {
  const polls = askedOf(history, TasksGet._tag).filter(({ answer }) => !isError(answer))
  return polls.flatMap(({ answer, task }) => {
    const status = at(answer, "result", "status")
    if (!ended.has(status)) return []
    return polls.flatMap((later) => {
      const then = at(later.answer, "result", "status")
      return later.task === task && later.request.at > answer.at && then !== status
        ? [`task ${task} is ${String(status)}, and later ${String(then)}`]
        : []
    })
  })
}

/** L14: a task whose cancellation was answered has ended. */
export const cancelledTasksEnd = (history: StatelessHistory): ReadonlyArray<string> => {
  const acks = askedOf(history, TasksCancel._tag).filter(({ answer }) => !isError(answer))
  const polls = askedOf(history, TasksGet._tag).filter(({ answer }) => !isError(answer))
  return acks.flatMap(({ answer, task }) =>
    polls.flatMap((later) => {
      const status = at(later.answer, "result", "status")
      return later.task === task && later.request.at > answer.at && !ended.has(status)
        ? [`task ${task} was cancelled and is ${String(status)}`]
        : []
    }),
  )
}

/** L7: a key names one question of its task and is never used for another. */
export const keysAreNew = (history: StatelessHistory): ReadonlyArray<string> => {
  const questions = new Map<string, string>()
  return askedOf(history, TasksGet._tag).flatMap(({ answer, task }) => {
    const open = at(answer, "result", "inputRequests")
    return Object.entries(isMembers(open) ? open : {}).flatMap(([key, question]) => {
      const name = `${task} ${key}`
      const text = JSON.stringify(question)
      const known = questions.get(name) ?? text
      questions.set(name, text)
      return known === text ? [] : [`key ${key} of task ${task} names two questions`]
    })
  })
}
