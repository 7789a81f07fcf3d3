/** `tasks/get`: responds with the status of a task; in 2026-07-28 also with its questions, its result or its error. */
import type { TasksGet as TasksGetMethod } from "@colloquy/protocol/mcp/Tasks"
import type { Params, ResultOf } from "@colloquy/protocol/Method"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Tasks } from "../../tasks/Tasks.ts"
import type { CoreHandler } from "../RequestContext.ts"
import { requireTasks, unknownTask } from "../tasks/TaskRequests.ts"
import { detailedTask, handshakeTask } from "../tasks/TaskShapes.ts"

/** The handler of `tasks/get`. */
export const tasksGet =
  (
    tasks: Tasks["Service"],
  ): CoreHandler<Params<typeof TasksGetMethod>, ResultOf<typeof TasksGetMethod>> =>
  ({ taskId }, context) =>
    Effect.gen(function* () {
      yield* requireTasks(context)
      const task = yield* tasks.get(context.principal, taskId)
      const nowMs = yield* Clock.currentTimeMillis
      return context.era === "stateless" ? detailedTask(task, nowMs) : handshakeTask(task, nowMs)
    }).pipe(Effect.catchTag("UnknownTask", unknownTask))
