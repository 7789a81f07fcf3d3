/**
 * `notifications/tasks/status` (2025-11-25): tells the connection that made a task when its status is another, to its
 * end. A client that does not read hears of the last one alone (L6).
 */
import { TasksStatus } from "@colloquy/protocol/mcp/Tasks"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Task } from "../../tasks/Task.ts"
import type { Tasks } from "../../tasks/Tasks.ts"
import type { RequestContext } from "../RequestContext.ts"
import { handshakeTask, statusOf } from "./TaskShapes.ts"

export const notifyStatus = (
  tasks: Tasks["Service"],
  { era, peer, principal }: RequestContext,
  made: Task,
): Effect.Effect<void> =>
  Effect.gen(function* () {
    let task = made
    while (task.end === undefined) {
      const next = yield* tasks.changed(principal, made.id, task.version)
      const news = statusOf(next, era) !== statusOf(task, era)
      task = next
      if (!news) continue
      yield* peer.notify(TasksStatus, [handshakeTask(task, yield* Clock.currentTimeMillis)])
    }
  }).pipe(
    Effect.catchTags({
      ConnectionClosed: ({ reason }) => Effect.logDebug(`status of a task told nobody: ${reason}`),
      UnknownTask: () => Effect.logDebug("a task was forgotten before its end was told"),
    }),
  )
