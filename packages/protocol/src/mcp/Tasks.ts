/**
 * Tasks: tool calls that continue after their response, as both specifications define them. In revision 2025-11-25
 * (experimental) the client asks for a task, waits for its result and may list its tasks. In the extension of 2026-07-28 the
 * server decides, `tasks/get` contains the result, and answers to questions are sent with `tasks/update`.
 */
import * as Schema from "effect/Schema"
import { notification, request } from "../Method.ts"

/** Key in `_meta` of messages that belong to a task and do not name it elsewhere; 2025-11-25 only. */
export const relatedTask = "io.modelcontextprotocol/related-task"

const Open = Schema.Record(Schema.String, Schema.Unknown)
const Meta = Schema.optionalKey(Open)

/**
 * Whether a call of a tool may become a task; default `forbidden`. In 2026-07-28 a call of an `optional` tool becomes one when
 * it takes long or asks a question, and a call of a `required` tool does so at once.
 */
export type TaskSupport = "forbidden" | "optional" | "required"

/** The status of a task. */
export const TaskStatus = Schema.Literals([
  "working",
  "input_required",
  "completed",
  "failed",
  "cancelled",
])
/** A decoded `TaskStatus`. */
export type TaskStatus = typeof TaskStatus.Type

const common = {
  taskId: Schema.String,
  status: TaskStatus,
  statusMessage: Schema.optionalKey(Schema.String),
  /** ISO 8601. */
  createdAt: Schema.String,
  lastUpdatedAt: Schema.String,
}

/** A task in the form of revision 2025-11-25; times in milliseconds. */
export const HandshakeTask = Schema.Struct({
  ...common,
  ttl: Schema.NullOr(Schema.Int),
  pollInterval: Schema.optionalKey(Schema.Int),
  _meta: Meta,
})
/** A decoded `HandshakeTask`. */
export type HandshakeTask = typeof HandshakeTask.Type

const stateless = {
  ...common,
  ttlMs: Schema.NullOr(Schema.Int),
  pollIntervalMs: Schema.optionalKey(Schema.Int),
  _meta: Meta,
}

/** A task in the form of the extension of 2026-07-28, with its pending questions, its result or its error. */
export const StatelessTask = Schema.Struct({
  ...stateless,
  inputRequests: Schema.optionalKey(Open),
  result: Schema.optionalKey(Open),
  error: Schema.optionalKey(Open),
})
/** A decoded `StatelessTask`. */
export type StatelessTask = typeof StatelessTask.Type

const named = { taskId: Schema.String, _meta: Meta }

/** Reports a task. */
export const TasksGet = request("tasks/get", {
  params: Schema.Struct(named),
  result: Schema.Union([HandshakeTask, StatelessTask]),
  since: "2025-11-25",
  doc: "Reports the status of a task; from 2026-07-28 on with its result, its error or its questions.",
})

/** Waits for the result of a task. */
export const TasksResult = request("tasks/result", {
  params: Schema.Struct(named),
  result: Open,
  since: "2025-11-25",
  until: "2026-07-28",
  doc: "Waits for the end of a task and responds with the result of its call. Questions of the task are sent meanwhile.",
})

/** Lists tasks. */
export const TasksList = request("tasks/list", {
  params: Schema.Struct({ cursor: Schema.optionalKey(Schema.String), _meta: Meta }),
  result: Schema.Struct({
    tasks: Schema.Array(HandshakeTask),
    nextCursor: Schema.optionalKey(Schema.String),
    _meta: Meta,
  }),
  since: "2025-11-25",
  until: "2026-07-28",
  doc: "Lists the tasks of the client, oldest first.",
})

/** Cancels a task. */
export const TasksCancel = request("tasks/cancel", {
  params: Schema.Struct(named),
  /** The task; empty from 2026-07-28 on. */
  result: Schema.Union([HandshakeTask, Schema.Struct({ _meta: Meta })]),
  since: "2025-11-25",
  doc: "Cancels a task.",
})

/** Answers questions of a task. */
export const TasksUpdate = request("tasks/update", {
  /** The answers are not decoded here: their shapes depend on the questions. */
  params: Schema.Struct({ ...named, inputResponses: Open }),
  result: Schema.Struct({ _meta: Meta }),
  since: "2026-07-28",
  doc: "Answers some or all questions of a task.",
})

/** A task has changed (2025-11-25). */
export const TasksStatus = notification("notifications/tasks/status", {
  params: HandshakeTask,
  since: "2025-11-25",
  until: "2026-07-28",
  doc: "The status of a task of this connection has changed.",
})

/** A task has changed (2026-07-28). */
export const TasksChanged = notification("notifications/tasks", {
  params: StatelessTask,
  since: "2026-07-28",
  doc: "A task that a `subscriptions/listen` names has changed. It has the form of the result of `tasks/get`.",
})
