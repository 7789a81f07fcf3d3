/**
 * `tasks/cancel`: interrupts the work of a task. For an ended task it fails in 2025-11-25 and succeeds in 2026-07-28.
 */
import type { TasksCancel as TasksCancelMethod } from "@colloquy/protocol/mcp/Tasks"
import type { Params, ResultOf } from "@colloquy/protocol/Method"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Tasks } from "../../tasks/Tasks.ts"
import type { CoreHandler } from "../RequestContext.ts"
import { invalidParams, requireTasks, unknownTask } from "../tasks/TaskRequests.ts"
import { handshakeTask, statusOf } from "../tasks/TaskShapes.ts"

/** The handler of `tasks/cancel`. */
export const tasksCancel =
  (
    tasks: Tasks["Service"],
  ): CoreHandler<Params<typeof TasksCancelMethod>, ResultOf<typeof TasksCancelMethod>> =>
  ({ taskId }, context) =>
    Effect.gen(function* () {
      const { era, principal } = context
      yield* requireTasks(context)
      const before = yield* tasks.cancel(principal, taskId)
      if (era === "stateless") return {}
      if (before.end !== undefined) {
        return yield* invalidParams(`taskId: the task has ended, it is ${statusOf(before, era)}`)
      }
      const task = yield* tasks.get(principal, taskId)
      return handshakeTask(task, yield* Clock.currentTimeMillis)
    }).pipe(Effect.catchTag("UnknownTask", unknownTask))
