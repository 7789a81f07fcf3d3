/** The handlers of `tasks/*`: a revision that does not know a method has it not (`Revision`). */
import {
  TasksCancel,
  TasksGet,
  TasksList,
  TasksResult,
  TasksUpdate,
} from "@colloquy/protocol/mcp/Tasks"
import * as Effect from "effect/Effect"
import * as KeyedLock from "../../internal/KeyedLock.ts"
import type { Tasks } from "../../tasks/Tasks.ts"
import type { Cursors } from "../catalog/Cursors.ts"
import { tasksCancel } from "../methods/TasksCancel.ts"
import { tasksGet } from "../methods/TasksGet.ts"
import { tasksList } from "../methods/TasksList.ts"
import { tasksResult } from "../methods/TasksResult.ts"
import { tasksUpdate } from "../methods/TasksUpdate.ts"

/** Of one connection, whose scope they are made in. */
export const taskHandlers = Effect.fnUntraced(function* (
  tasks: Tasks["Service"],
  cursors: Cursors,
) {
  return {
    [TasksGet._tag]: tasksGet(tasks),
    [TasksResult._tag]: tasksResult(tasks, yield* KeyedLock.make),
    [TasksList._tag]: tasksList(tasks, cursors),
    [TasksCancel._tag]: tasksCancel(tasks),
    [TasksUpdate._tag]: tasksUpdate(tasks),
  }
})
