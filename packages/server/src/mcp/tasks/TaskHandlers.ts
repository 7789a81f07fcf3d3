/** The handlers of `tasks/*`. `Revision` hides the methods that a client's revision does not have. */
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

/** The handlers of one connection by method name; their locks end with the connection's scope. */
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
