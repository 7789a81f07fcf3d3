/**
 * The record of one task, which is a call whose work continues after its response, and every change that a task can
 * undergo. An end is final (L5), and the key of a question is never used again in the same task. Pure: the caller gives
 * the time.
 *
 *     working ── addQuestions ──► waiting for answers ── removeQuestions ──► working
 *        └──────────── finish, from both states ──► ended: `Result`, `Error` or `Cancelled`
 */
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { CallToolResult } from "@colloquy/protocol/mcp/CodexMcp"
import type { InputRequest } from "../mcp/RequestContext.ts"

/** How a task ended: with the result or error that the call would have had, or because a client cancelled it. */
export type TaskEnd =
  | { readonly _tag: "Result"; readonly result: CallToolResult }
  | { readonly _tag: "Error"; readonly error: JsonRpcError }
  | { readonly _tag: "Cancelled" }

/** An immutable snapshot of a task. Every change makes a new one with a higher `version`. */
export interface Task {
  /** 128 random bits, so it cannot be guessed. */
  readonly id: string
  /** The principal that created it. No other principal can find it. */
  readonly principal: string
  /** Position in the order in which the tasks of a `TaskBook` were created; from 1. */
  readonly ordinal: number
  readonly createdAtMs: number
  readonly updatedAtMs: number
  /** How long it is kept, counted from its creation; longer when it ends late (`ttlAt`). Null: for ever. */
  readonly ttlMs: number | null
  /** How long clients are asked to wait between two polls. */
  readonly pollIntervalMs: number
  /** Status message for a person: what the work is doing, or why it ended. */
  readonly message?: string
  /** Questions without an answer so far, by key, in the order in which they were added. */
  readonly questions: ReadonlyMap<string, InputRequest>
  /** Number of questions added so far; makes their keys unique. */
  readonly asked: number
  /** Absent while the work runs. */
  readonly end?: TaskEnd
  readonly endedAtMs?: number
  /** Rises with every change. */
  readonly version: number
}

/**
 * However late a task ends, it is kept this long after its end, so that the client can read the result; a shorter `ttlMs`
 * is respected, because the client asked for it.
 */
const keptAfterEndMs = 5 * 60_000

const changed = (task: Task, nowMs: number, members: Partial<Task>): Task => ({
  ...task,
  ...members,
  updatedAtMs: Math.max(task.updatedAtMs, nowMs),
  version: task.version + 1,
})

/** The record of a task that begins now, without questions. */
export const create = (
  made: Pick<Task, "id" | "principal" | "ordinal" | "ttlMs" | "pollIntervalMs" | "message">,
  nowMs: number,
): Task => ({
  ...made,
  createdAtMs: nowMs,
  updatedAtMs: nowMs,
  questions: new Map(),
  asked: 0,
  version: 0,
})

/** The task with these questions added, and their keys in the given order. Each key has a number that is not used again. */
export const addQuestions = (
  task: Task,
  questions: ReadonlyArray<readonly [name: string, request: InputRequest]>,
  nowMs: number,
): readonly [task: Task, keys: ReadonlyArray<string>] => {
  const keyed = questions.map(
    ([name, request], index) => [`${task.asked + index + 1}-${name}`, request] as const,
  )
  const next = changed(task, nowMs, {
    questions: new Map([...task.questions, ...keyed]),
    asked: task.asked + keyed.length,
  })
  return [next, keyed.map(([key]) => key)]
}

/** The task without these questions, because they were answered or withdrawn; the same task when it has none of them. */
export const removeQuestions = (task: Task, keys: ReadonlyArray<string>, nowMs: number): Task => {
  if (!keys.some((key) => task.questions.has(key))) return task
  const questions = new Map(task.questions)
  for (const key of keys) questions.delete(key)
  return changed(task, nowMs, { questions })
}

/** The task with this status message; the same task when it has ended or has that message already. */
export const setMessage = (task: Task, message: string, nowMs: number): Task =>
  task.end !== undefined || task.message === message ? task : changed(task, nowMs, { message })

const endMessage = (end: TaskEnd): string | undefined => {
  switch (end._tag) {
    case "Result":
      return undefined
    case "Error":
      return end.error.message
    case "Cancelled":
      return "cancelled by request"
  }
}

/**
 * The task with this end, unless it has ended before: the first end counts. Removes its questions, and replaces the
 * message about its work by the reason of the end, if there is one.
 */
export const finish = (task: Task, end: TaskEnd, nowMs: number): Task => {
  if (task.end !== undefined) return task
  const message = endMessage(end)
  const { message: _, ...rest } = task
  return changed(rest, nowMs, {
    questions: new Map(),
    end,
    endedAtMs: nowMs,
    ...(message === undefined ? {} : { message }),
  })
}

/**
 * How long the task is kept, in milliseconds from its creation, as far as known now; null for ever. A running task is kept
 * however long it runs.
 */
export const ttlAt = (task: Task, nowMs: number): number | null =>
  task.ttlMs === null
    ? null
    : Math.max(
        task.ttlMs,
        (task.endedAtMs ?? nowMs) - task.createdAtMs + Math.min(task.ttlMs, keptAfterEndMs),
      )

/** When the task is removed; undefined while it runs, and for a task that is kept for ever. */
export const expiresAtMs = (task: Task): number | undefined => {
  if (task.endedAtMs === undefined) return undefined
  const ttlMs = ttlAt(task, task.endedAtMs)
  return ttlMs === null ? undefined : task.createdAtMs + ttlMs
}
