/**
 * `tasks/result` (2025-11-25): waits for the end of a task and sends the response that its call would have had.
 * Meanwhile it asks its client the task's questions; only one such request at a time asks a given question. Keeps its
 * part of L7: a question is withdrawn when it is resolved elsewhere, and stays pending when the request is cancelled.
 */
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { TasksResult as TasksResultMethod } from "@colloquy/protocol/mcp/Tasks"
import type { Params, ResultOf } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberMap from "effect/FiberMap"
import type { KeyedLock } from "../../internal/KeyedLock.ts"
import type { TaskEnd } from "../../tasks/Task.ts"
import type { Tasks } from "../../tasks/Tasks.ts"
import type {
  CoreHandler,
  InputRequest,
  InputResponse,
  Members,
  RequestContext,
} from "../RequestContext.ts"
import { isMembers, missingIn, neededFor } from "../eras/Capabilities.ts"
import { put } from "../eras/Handshake.ts"
import { unknownTask } from "../tasks/TaskRequests.ts"
import { withRelated } from "../tasks/TaskShapes.ts"

type Result = ResultOf<typeof TasksResultMethod>

/** The response that the call would have had. */
const answerOf = (taskId: string, end: TaskEnd): Effect.Effect<Result, JsonRpcError> => {
  switch (end._tag) {
    case "Result":
      return Effect.succeed({ ...end.result, _meta: withRelated(taskId, end.result._meta) })
    case "Error":
      return Effect.fail(end.error)
    case "Cancelled":
      return Effect.fail(
        new JsonRpcError({ code: ErrorCode.serverError, message: "the task was cancelled" }),
      )
  }
}

type Question = readonly [key: string, request: InputRequest]

const metaOf = (params: Members | undefined): Members => {
  const meta = params?.["_meta"]
  return isMembers(meta) ? meta : {}
}

const related = (taskId: string, { method, params }: InputRequest): InputRequest => ({
  method,
  params: { ...params, _meta: withRelated(taskId, metaOf(params)) },
})

const readAnswer = (answer: unknown): Effect.Effect<InputResponse, JsonRpcError> =>
  isMembers(answer)
    ? Effect.succeed(answer)
    : Effect.fail(
        new JsonRpcError({
          code: ErrorCode.internalError,
          message: "invalid response of the client: expected an object",
        }),
      )

/**
 * The handler of `tasks/result` of one connection.
 *
 * @param alone ensures that only one request at a time asks a given question of a task
 */
export const tasksResult = (
  tasks: Tasks["Service"],
  alone: KeyedLock,
): CoreHandler<Params<typeof TasksResultMethod>, Result> => {
  /** Asks a question. The client's response, also an error, answers it; without a response it stays pending. */
  const ask = ({ peer, principal }: RequestContext, taskId: string, question: Question) => {
    const [key, request] = question
    return put(peer, related(taskId, request)).pipe(
      Effect.flatMap(readAnswer),
      Effect.map(Exit.succeed),
      Effect.catchTag("JsonRpcError", (error) => Effect.succeed(Exit.fail(error))),
      Effect.flatMap((answer) => tasks.answer(principal, taskId, { [key]: answer })),
      Effect.catchTags({
        ConnectionClosed: ({ reason }) => Effect.logDebug(`question of a task not sent: ${reason}`),
        UnknownTask: () => Effect.logDebug("a question was answered after its task was removed"),
      }),
    )
  }

  return ({ taskId }, context) =>
    Effect.gen(function* () {
      const { client, principal } = context
      const asking = yield* FiberMap.make<string>()
      let task = yield* tasks.get(principal, taskId)
      while (task.end === undefined) {
        for (const [key] of asking) {
          if (!task.questions.has(key)) yield* FiberMap.remove(asking, key)
        }
        for (const question of task.questions) {
          const [key, request] = question
          if (missingIn(client.capabilities, neededFor(request)) !== undefined) continue
          const turn = alone(`${taskId} ${key}`, ask(context, taskId, question))
          yield* FiberMap.run(asking, key, turn, { onlyIfMissing: true })
        }
        task = yield* tasks.changed(principal, taskId, task.version)
      }
      return yield* answerOf(taskId, task.end)
    }).pipe(Effect.scoped, Effect.catchTag("UnknownTask", unknownTask))
}
