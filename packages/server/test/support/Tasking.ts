/** Helpers for calls that run as tasks, in both forms, and for the requests about them. */
import * as Effect from "effect/Effect"
import { initialize } from "./Asking.ts"
import type { Harness } from "./Harness.ts"
import { saying } from "./Stateless.ts"
import type { WireMessage } from "./Wire.ts"

type Members = Readonly<Record<string, unknown>>

const extension = { extensions: { "io.modelcontextprotocol/tasks": {} } }

export const related = (taskId: unknown) => ({ "io.modelcontextprotocol/related-task": { taskId } })

/** The `_meta` that a client of each form sends with a call, or with a request about a task. */
export interface Form {
  readonly name: "2025-11-25" | "2026-07-28"
  readonly hello: (server: Harness) => Effect.Effect<void>
  readonly says: (params: Members) => Members
  /** Makes the call a task. */
  readonly wants: Members
}

const canAsk = { elicitation: {} }

export const asked: Form = {
  name: "2025-11-25",
  hello: (server) =>
    Effect.andThen(server.send(initialize(canAsk)), Effect.asVoid(server.response("i"))),
  says: (params) => params,
  wants: { task: {} },
}

export const decided: Form = {
  name: "2026-07-28",
  hello: () => Effect.void,
  says: (params) => saying(params, { ...canAsk, ...extension }),
  wants: {},
}

export const forms = [asked, decided]

/** The answer to a call that is to become a task. */
export const callAsTask = (
  server: Harness,
  form: Form,
  id: unknown,
  name: string,
  args: unknown,
  wants: Members = form.wants,
): Effect.Effect<WireMessage> =>
  server.ask(id, "tools/call", form.says({ name, arguments: args, ...wants }))

/** The id that the response names; fails the test when it names none. */
export const taskIdIn = ({ result }: WireMessage): string => {
  const task = result?.["task"] ?? result
  const id = typeof task === "object" && task !== null ? Reflect.get(task, "taskId") : undefined
  if (typeof id !== "string") throw new Error(`not a task: ${JSON.stringify(result)}`)
  return id
}

/** Number of ids used so far for each server, so that no id is used twice. */
const counts = new WeakMap<Harness, number>()

export const about =
  (server: Harness, form: Form) =>
  (method: string, params: Members): Effect.Effect<WireMessage> => {
    const count = (counts.get(server) ?? 0) + 1
    counts.set(server, count)
    return server.ask(`about-${count}`, method, form.says(params))
  }

/** The member of that name in a result; undefined when there is no result. */
export const member = ({ result }: WireMessage, name: string): unknown => result?.[name]

/** A member of the structured content of a tool's result. */
export const structured = (message: WireMessage, name: string): unknown => {
  const content = member(message, "structuredContent")
  return typeof content === "object" && content !== null ? Reflect.get(content, name) : undefined
}

/** The tasks that a page lists. */
export const listed = (message: WireMessage): ReadonlyArray<Members> => {
  const tasks = member(message, "tasks")
  if (!Array.isArray(tasks)) throw new Error(`no page of tasks: ${JSON.stringify(message)}`)
  return tasks
}

/** Code and message of an error. */
export const refused = ({ error }: WireMessage) => [error?.code, error?.message]
