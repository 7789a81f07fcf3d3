/**
 * `notifications/tasks/status` (2025-11-25): notifies the connection that created a task when its status changes, until it
 * ends. A client that does not read gets only the last status (L6).
 */
import { TasksStatus } from "@colloquy/protocol/mcp/Tasks"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Task } from "../../tasks/Task.ts"
import type { Tasks } from "../../tasks/Tasks.ts"
import type { RequestContext } from "../RequestContext.ts"
import { handshakeTask, statusOf } from "./TaskShapes.ts"

/** Notifies the client of every status after that of `made`. Resolves when the task or the connection has ended. */
export const notifyStatus = (
  tasks: Tasks["Service"],
  { era, peer, principal }: RequestContext,
  made: Task,
): Effect.Effect<void> =>
  Effect.gen(function* () {
    let task = made
    while (task.end === undefined) {
      const next = yield* tasks.changed(principal, made.id, task.version)
      const isChanged = statusOf(next, era) !== statusOf(task, era)
      task = next
      if (!isChanged) continue
      yield* peer.notify(TasksStatus, [handshakeTask(task, yield* Clock.currentTimeMillis)])
    }
  }).pipe(
    Effect.catchTags({
      ConnectionClosed: ({ reason }) => Effect.logDebug(`status of a task not sent: ${reason}`),
      UnknownTask: () => Effect.logDebug("a task was removed before its end was sent"),
    }),
  )
