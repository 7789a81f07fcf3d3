/**
 * `notifications/tasks` (2026-07-28): notifies a subscription of every change of the tasks that it names, until they end.
 * A client that does not read gets only the last change (L6).
 */
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import { TasksChanged } from "@colloquy/protocol/mcp/Tasks"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Task } from "../../tasks/Task.ts"
import type { Tasks } from "../../tasks/Tasks.ts"
import type { Members, RequestContext } from "../RequestContext.ts"
import { detailedTask } from "./TaskShapes.ts"

/** The existing tasks of the principal among these ids, as they are now. Unknown ids are ignored. */
export const tasksOf = (
  tasks: Tasks["Service"],
  { principal }: RequestContext,
  ids: ReadonlyArray<string>,
): Effect.Effect<ReadonlyArray<Task>> =>
  Effect.map(
    Effect.forEach([...new Set(ids)], (id) => Effect.option(tasks.get(principal, id))),
    (found) => found.flatMap((task) => (task._tag === "Some" ? task.value : [])),
  )

/** Notifies the client of every change after `seen`. Resolves when the task has ended or was removed. */
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
      Effect.logDebug(`task ${seen.id} was removed before its end was sent`),
    ),
  )
