/**
 * One task: the record of a call that goes on after its answer, and every step it may take. Pure: the time is given.
 * An end is final, and a question's key is never used again in the same task.
 */
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { CallToolResult } from "@colloquy/protocol/mcp/CodexMcp"
import type { InputRequest } from "../mcp/RequestContext.ts"

/** How a task ended: as the call would have been answered, or taken back. */
export type TaskEnd =
  | { readonly _tag: "Result"; readonly result: CallToolResult }
  | { readonly _tag: "Error"; readonly error: JsonRpcError }
  | { readonly _tag: "Cancelled" }

export interface Task {
  /** Unguessable. */
  readonly id: string
  /** Who made it; nobody else finds it. */
  readonly principal: string
  /** Counts the tasks of a book as they are made. */
  readonly ordinal: number
  readonly createdAtMs: number
  readonly updatedAtMs: number
  /** How long it is kept from its creation on, unless it ends too late for that; null for ever. */
  readonly ttlMs: number | null
  readonly pollIntervalMs: number
  /** For a person: what it is at, or why it ended. */
  readonly message?: string
  /** What it waits for, by key, in the order it was asked. */
  readonly questions: ReadonlyMap<string, InputRequest>
  /** Questions so far. */
  readonly asked: number
  readonly end?: TaskEnd
  readonly endedAtMs?: number
  /** Rises with every step. */
  readonly version: number
}

/** However late it ends, a task is kept so long after its end, or for its own time when that is shorter: it was asked for. */
const keptAfterEndMs = 5 * 60_000

const stepped = (task: Task, nowMs: number, members: Partial<Task>): Task => ({
  ...task,
  ...members,
  updatedAtMs: Math.max(task.updatedAtMs, nowMs),
  version: task.version + 1,
})

export const begin = (
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

/** The task with its new questions, and their keys in the order given: each with a number of its own. */
export const ask = (
  task: Task,
  questions: ReadonlyArray<readonly [name: string, request: InputRequest]>,
  nowMs: number,
): readonly [task: Task, keys: ReadonlyArray<string>] => {
  const keyed = questions.map(
    ([name, request], index) => [`${task.asked + index + 1}-${name}`, request] as const,
  )
  const next = stepped(task, nowMs, {
    questions: new Map([...task.questions, ...keyed]),
    asked: task.asked + keyed.length,
  })
  return [next, keyed.map(([key]) => key)]
}

/** Those are answered, or no answer is wanted any more. */
export const settle = (task: Task, keys: ReadonlyArray<string>, nowMs: number): Task => {
  if (!keys.some((key) => task.questions.has(key))) return task
  const questions = new Map(task.questions)
  for (const key of keys) questions.delete(key)
  return stepped(task, nowMs, { questions })
}

export const say = (task: Task, message: string, nowMs: number): Task =>
  task.end !== undefined || task.message === message ? task : stepped(task, nowMs, { message })

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

/** The first end counts. What the work was at, it is at no more. */
export const finish = (task: Task, end: TaskEnd, nowMs: number): Task => {
  if (task.end !== undefined) return task
  const message = endMessage(end)
  const { message: _, ...rest } = task
  return stepped(rest, nowMs, {
    questions: new Map(),
    end,
    endedAtMs: nowMs,
    ...(message === undefined ? {} : { message }),
  })
}

/** How long it is kept from its creation on, as known now: what still runs is kept, however long that takes. */
export const ttlAt = (task: Task, nowMs: number): number | null =>
  task.ttlMs === null
    ? null
    : Math.max(
        task.ttlMs,
        (task.endedAtMs ?? nowMs) - task.createdAtMs + Math.min(task.ttlMs, keptAfterEndMs),
      )

/** When it is forgotten; undefined while it runs, and for one that is kept for ever. */
export const expiresAtMs = (task: Task): number | undefined => {
  if (task.endedAtMs === undefined) return undefined
  const ttlMs = ttlAt(task, task.endedAtMs)
  return ttlMs === null ? undefined : task.createdAtMs + ttlMs
}
