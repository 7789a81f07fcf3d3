/**
 * `notifications/tasks` (2026-07-28): tells a subscription of every step of the tasks that it names, to their ends. A
 * client that does not read hears of the last step alone (L6).
 */
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import { TasksChanged } from "@colloquy/protocol/mcp/Tasks"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Task } from "../../tasks/Task.ts"
import type { Tasks } from "../../tasks/Tasks.ts"
import type { Members, RequestContext } from "../RequestContext.ts"
import { detailedTask } from "./TaskShapes.ts"

/** Those of the ids that the caller has a task under, as they are now. */
export const tasksOf = (
  tasks: Tasks["Service"],
  { principal }: RequestContext,
  ids: ReadonlyArray<string>,
): Effect.Effect<ReadonlyArray<Task>> =>
  Effect.map(
    Effect.forEach([...new Set(ids)], (id) => Effect.option(tasks.get(principal, id))),
    (found) => found.flatMap((task) => (task._tag === "Some" ? task.value : [])),
  )

/** From the step after this one on. */
export const notifyChanges = (
  tasks: Tasks["Service"],
  { notify, principal }: RequestContext,
  seen: Task,
  _meta: Members,
): Effect.Effect<void, ConnectionClosed> =>
  Effect.gen(function* () {
    let task = seen
    while (task.end === undefined) {
      task = yield* tasks.changed(principal, seen.id, task.version)
      const nowMs = yield* Clock.currentTimeMillis
      yield* notify(TasksChanged, [{ ...detailedTask(task, nowMs), _meta }])
    }
  }).pipe(
    Effect.catchTag("UnknownTask", () =>
      Effect.logDebug(`task ${seen.id} was forgotten before its end was told`),
    ),
  )
