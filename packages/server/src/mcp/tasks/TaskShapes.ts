/** Converts the record of a task to its two wire forms, and alone decides the status on the wire. Pure. */
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { CallToolResult } from "@colloquy/protocol/mcp/CodexMcp"
import {
  type HandshakeTask,
  relatedTask,
  type StatelessTask,
  type TaskStatus,
} from "@colloquy/protocol/mcp/Tasks"
import * as DateTime from "effect/DateTime"
import { type Task, type TaskEnd, ttlAt } from "../../tasks/Task.ts"
import { type Era, type Members, OtherResult } from "../RequestContext.ts"

const iso = (ms: number): string => DateTime.formatIso(DateTime.makeUnsafe(ms))

/** UTF-16 code units of a status message, which is one line for a person; the result has the whole text. */
const maxMessage = 500

/** A result with `isError` is `failed` in 2025-11-25 and `completed` in 2026-07-28, where only an error is `failed`. */
const endStatus = (end: TaskEnd, era: Era): TaskStatus => {
  switch (end._tag) {
    case "Result":
      return era === "stateless" || end.result.isError !== true ? "completed" : "failed"
    case "Error":
      return "failed"
    case "Cancelled":
      return "cancelled"
  }
}

/** The status of the task on the wire. */
export const statusOf = ({ end, questions }: Task, era: Era): TaskStatus => {
  if (end !== undefined) return endStatus(end, era)
  return questions.size > 0 ? "input_required" : "working"
}

const firstText = ({ content }: CallToolResult): string | undefined =>
  content.flatMap((part) =>
    "text" in part && typeof part["text"] === "string" ? part["text"] : [],
  )[0]

/** In 2025-11-25 the text of a failed result, which is sent separately; else the task's own message. */
const messageOf = ({ end, message }: Task, era: Era): string | undefined => {
  const failed = era === "handshake" && end?._tag === "Result" && end.result.isError === true
  return (failed ? firstText(end.result) : message)?.slice(0, maxMessage)
}

const common = (task: Task, era: Era) => {
  const statusMessage = messageOf(task, era)
  return {
    taskId: task.id,
    status: statusOf(task, era),
    ...(statusMessage === undefined ? {} : { statusMessage }),
    createdAt: iso(task.createdAtMs),
    lastUpdatedAt: iso(task.updatedAtMs),
  }
}

/** The task as 2025-11-25 has it. */
export const handshakeTask = (task: Task, nowMs: number): HandshakeTask => ({
  ...common(task, "handshake"),
  ttl: ttlAt(task, nowMs),
  pollInterval: task.pollIntervalMs,
})

const statelessTask = (task: Task, nowMs: number) => ({
  ...common(task, "stateless"),
  ttlMs: ttlAt(task, nowMs),
  pollIntervalMs: task.pollIntervalMs,
})

const wireError = ({ code, message, data }: JsonRpcError): Members => ({
  code,
  message,
  ...(data === undefined ? {} : { data }),
})

/** The task as 2026-07-28 has it, with its pending questions, its result or its error. */
export const detailedTask = (task: Task, nowMs: number): StatelessTask => {
  const { end, questions } = task
  return {
    ...statelessTask(task, nowMs),
    ...(questions.size > 0 ? { inputRequests: Object.fromEntries(questions) } : {}),
    ...(end?._tag === "Result" ? { result: end.result } : {}),
    ...(end?._tag === "Error" ? { error: wireError(end.error) } : {}),
  }
}

/** The response to the call that created the task. */
export const createdResult = (task: Task, nowMs: number, era: Era): OtherResult =>
  new OtherResult({
    resultType: "task",
    members:
      era === "stateless" ? statelessTask(task, nowMs) : { task: handshakeTask(task, nowMs) },
  })

/** `_meta` with the id of the task that a message belongs to (2025-11-25). */
export const withRelated = (taskId: string, meta: Members = {}): Members => ({
  ...meta,
  [relatedTask]: { taskId },
})
