/** What holds of tasks as their clients see them by asking. Pure. */
import { TasksCancel, TasksGet } from "@colloquy/protocol/mcp/Tasks"
import type { WireMessage } from "../../wire/WireHistory.ts"
import { at, isMembers } from "../StatelessKnown.ts"
import { anHourMs } from "../StatelessPlan.ts"
import {
  answerTo,
  type Connection,
  isError,
  resultType,
  type StatelessStory,
} from "../StatelessHistory.ts"

interface Asked {
  readonly connection: Connection
  readonly request: WireMessage
  readonly answer: WireMessage
  readonly task: string
}

/** Requests about tasks that were answered, of that method or of any. */
const askedOf = ({ connections }: StatelessStory, method?: string): ReadonlyArray<Asked> =>
  connections.flatMap((connection) =>
    connection.said.flatMap((request) => {
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

const madeOf = ({ connections }: StatelessStory): ReadonlyMap<string, Made> =>
  new Map(
    connections.flatMap(({ heard, plan: { principal } }) =>
      heard.flatMap((answer) => {
        const id = at(answer, "result", "taskId")
        return resultType(answer) === "task" && typeof id === "string"
          ? [[id, { principal, answer }] as const]
          : []
      }),
    ),
  )

/** L1: who was told of a task finds it, as long as it is kept. */
export const foundByOwner = (story: StatelessStory): ReadonlyArray<string> => {
  const made = madeOf(story)
  return askedOf(story).flatMap(({ answer, connection, request, task }) => {
    const found = made.get(task)
    if (found === undefined || found.principal !== connection.plan.principal) return []
    // It was made before the answer was heard, and is looked for after the request was said.
    const surely = request.at > found.answer.at && request.ms < found.answer.ms + anHourMs - 120_000
    const missing = isError(answer) && !(answer.error?.code === -32602 && isUpdate(request))
    return surely && missing ? [`task ${task} is answered ${answer.text}`] : []
  })
}

const isUpdate = (request: WireMessage) => at(request, "params", "inputResponses") !== undefined

/** L13: a task of somebody else is none. */
export const hiddenFromOthers = (story: StatelessStory): ReadonlyArray<string> => {
  const made = madeOf(story)
  return askedOf(story).flatMap(({ answer, connection, task }) => {
    const owner = made.get(task)?.principal
    return owner === connection.plan.principal || isError(answer)
      ? []
      : [
          `${connection.plan.principal} asks for task ${task} of ${owner ?? "nobody"}: ${answer.text}`,
        ]
  })
}

const ended: ReadonlySet<unknown> = new Set(["completed", "failed", "cancelled"])

/** L5: an end is the end: who asks after he was told of one is told the same. */
export const endsForGood = (story: StatelessStory): ReadonlyArray<string> => {
  const polls = askedOf(story, TasksGet._tag).filter(({ answer }) => !isError(answer))
  return polls.flatMap(({ answer, task }) => {
    const status = at(answer, "result", "status")
    if (!ended.has(status)) return []
    return polls.flatMap((later) => {
      const then = at(later.answer, "result", "status")
      return later.task === task && later.request.at > answer.at && then !== status
        ? [`task ${task} is ${String(status)}, and then ${String(then)}`]
        : []
    })
  })
}

/** L14: a task whose cancellation was answered is over. */
export const cancelled = (story: StatelessStory): ReadonlyArray<string> => {
  const acks = askedOf(story, TasksCancel._tag).filter(({ answer }) => !isError(answer))
  const polls = askedOf(story, TasksGet._tag).filter(({ answer }) => !isError(answer))
  return acks.flatMap(({ answer, task }) =>
    polls.flatMap((later) => {
      const status = at(later.answer, "result", "status")
      return later.task === task && later.request.at > answer.at && !ended.has(status)
        ? [`task ${task} was cancelled and is ${String(status)}`]
        : []
    }),
  )
}

/** L7: a key stands for one question of its task, for ever. */
export const keysAreNew = (story: StatelessStory): ReadonlyArray<string> => {
  const questions = new Map<string, string>()
  return askedOf(story, TasksGet._tag).flatMap(({ answer, task }) => {
    const open = at(answer, "result", "inputRequests")
    return Object.entries(isMembers(open) ? open : {}).flatMap(([key, question]) => {
      const name = `${task} ${key}`
      const text = JSON.stringify(question)
      const known = questions.get(name) ?? text
      questions.set(name, text)
      return known === text ? [] : [`key ${key} of task ${task} stands for two questions`]
    })
  })
}
