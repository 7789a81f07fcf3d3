/**
 * `tasks/update` (2026-07-28): answers some or all questions of a task. Keys without a pending question are ignored. If
 * one answer does not have the shape that its question requires, the request fails and every question stays pending.
 */
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { TasksUpdate as TasksUpdateMethod } from "@colloquy/protocol/mcp/Tasks"
import type { Params, ResultOf } from "@colloquy/protocol/Method"
import { memberOf } from "@colloquy/protocol/NullAsAbsent"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Tasks } from "../../tasks/Tasks.ts"
import type { CoreHandler, InputResponse } from "../RequestContext.ts"
import { readResponse } from "../eras/AnswerShapes.ts"
import { invalidParams, requireTasks, unknownTask } from "../tasks/TaskRequests.ts"

/** The handler of `tasks/update`. */
export const tasksUpdate =
  (
    tasks: Tasks["Service"],
  ): CoreHandler<Params<typeof TasksUpdateMethod>, ResultOf<typeof TasksUpdateMethod>> =>
  ({ inputResponses, taskId }, context) =>
    Effect.gen(function* () {
      yield* requireTasks(context)
      const { questions } = yield* tasks.get(context.principal, taskId)
      const answers: Record<string, Exit.Exit<InputResponse, JsonRpcError>> = {}
      for (const [key, question] of questions) {
        const given = memberOf(inputResponses, key)
        if (given === undefined) continue
        const response = readResponse(question, given)
        if (response === undefined) {
          return yield* invalidParams(
            `inputResponses[${JSON.stringify(key)}]: expected an answer to ${question.method} that fits what was asked`,
          )
        }
        answers[key] = Exit.succeed(response)
      }
      yield* tasks.answer(context.principal, taskId, answers)
      return {}
    }).pipe(Effect.catchTag("UnknownTask", unknownTask))
