/**
 * Tasks: calls that go on after their answer, in both of their forms. Revision 2025-11-25 (experimental): the client asks
 * for a task, waits for its result and may list its tasks. The extension of 2026-07-28: the server decides, what there is
 * to tell comes inlined, answers to questions are given by an update. Facts of the two specifications only.
 */
import * as Schema from "effect/Schema"
import { notification, request } from "../Method.ts"

/** Name of the extension, under `capabilities.extensions` of both sides. */
export const tasksExtension = "io.modelcontextprotocol/tasks"

/** In `_meta` of whatever belongs to a task and does not name it elsewhere; 2025-11-25 only. */
export const relatedTask = "io.modelcontextprotocol/related-task"

const Open = Schema.Record(Schema.String, Schema.Unknown)
const Meta = Schema.optionalKey(Open)

/**
 * Whether a call of a tool may be made a task; default `forbidden`. In 2026-07-28 a call of an `optional` tool is one when
 * it takes long or asks something, and a call of a `required` tool is one at once.
 */
export type TaskSupport = "forbidden" | "optional" | "required"

export const TaskStatus = Schema.Literals([
  "working",
  "input_required",
  "completed",
  "failed",
  "cancelled",
])
export type TaskStatus = typeof TaskStatus.Type

const common = {
  taskId: Schema.String,
  status: TaskStatus,
  statusMessage: Schema.optionalKey(Schema.String),
  /** ISO 8601. */
  createdAt: Schema.String,
  lastUpdatedAt: Schema.String,
}

/** A task as 2025-11-25 tells of it; times in milliseconds. */
export const HandshakeTask = Schema.Struct({
  ...common,
  ttl: Schema.NullOr(Schema.Int),
  pollInterval: Schema.optionalKey(Schema.Int),
  _meta: Meta,
})
export type HandshakeTask = typeof HandshakeTask.Type

const stateless = {
  ...common,
  ttlMs: Schema.NullOr(Schema.Int),
  pollIntervalMs: Schema.optionalKey(Schema.Int),
  _meta: Meta,
}

/** A task as the extension of 2026-07-28 tells of it, with what its status brings. */
export const StatelessTask = Schema.Struct({
  ...stateless,
  inputRequests: Schema.optionalKey(Open),
  result: Schema.optionalKey(Open),
  error: Schema.optionalKey(Open),
})
export type StatelessTask = typeof StatelessTask.Type

const named = { taskId: Schema.String, _meta: Meta }

export const TasksGet = request("tasks/get", {
  params: Schema.Struct(named),
  result: Schema.Union([HandshakeTask, StatelessTask]),
  since: "2025-11-25",
  doc: "How a task stands; from 2026-07-28 on with its result, its error or its questions.",
})

export const TasksResult = request("tasks/result", {
  params: Schema.Struct(named),
  result: Open,
  since: "2025-11-25",
  until: "2026-07-28",
  doc: "Waits for the end of a task and is answered as its call would have been; meanwhile the task's questions are put.",
})

export const TasksList = request("tasks/list", {
  params: Schema.Struct({ cursor: Schema.optionalKey(Schema.String), _meta: Meta }),
  result: Schema.Struct({
    tasks: Schema.Array(HandshakeTask),
    nextCursor: Schema.optionalKey(Schema.String),
    _meta: Meta,
  }),
  since: "2025-11-25",
  until: "2026-07-28",
  doc: "The tasks of the caller, oldest first.",
})

export const TasksCancel = request("tasks/cancel", {
  params: Schema.Struct(named),
  /** The task, or from 2026-07-28 on nothing. */
  result: Schema.Union([HandshakeTask, Schema.Struct({ _meta: Meta })]),
  since: "2025-11-25",
  doc: "Stops the work of a task.",
})

export const TasksUpdate = request("tasks/update", {
  /** The answers stay unread here: what they have to be is said by the questions. */
  params: Schema.Struct({ ...named, inputResponses: Open }),
  result: Schema.Struct({ _meta: Meta }),
  since: "2026-07-28",
  doc: "Answers questions of a task, all of them or some.",
})

export const TasksStatus = notification("notifications/tasks/status", {
  params: HandshakeTask,
  since: "2025-11-25",
  until: "2026-07-28",
  doc: "A task of this connection has another status.",
})

export const TasksChanged = notification("notifications/tasks", {
  params: StatelessTask,
  since: "2026-07-28",
  doc: "A task that a `subscriptions/listen` names stands differently; as `tasks/get` tells it.",
})
