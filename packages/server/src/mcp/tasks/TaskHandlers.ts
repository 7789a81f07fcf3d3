/** The handlers of `tasks/*`: a revision that does not know a method has it not (`Revision`). */
import {
  TasksCancel,
  TasksGet,
  TasksList,
  TasksResult,
  TasksUpdate,
} from "@colloquy/protocol/mcp/Tasks"
import type { Tasks } from "../../tasks/Tasks.ts"
import type { Cursors } from "../catalog/Cursors.ts"
import { tasksCancel } from "../methods/TasksCancel.ts"
import { tasksGet } from "../methods/TasksGet.ts"
import { tasksList } from "../methods/TasksList.ts"
import { tasksResult } from "../methods/TasksResult.ts"
import { tasksUpdate } from "../methods/TasksUpdate.ts"

export const taskHandlers = (tasks: Tasks["Service"], cursors: Cursors) => ({
  [TasksGet._tag]: tasksGet(tasks),
  [TasksResult._tag]: tasksResult(tasks),
  [TasksList._tag]: tasksList(tasks, cursors),
  [TasksCancel._tag]: tasksCancel(tasks),
  [TasksUpdate._tag]: tasksUpdate(tasks),
})
