/**
 * The running tasks of a server: each a fiber of its own, whose work outlives the call and the connection that made it
 * and ends with this service at the latest (L8). Knows no wire form; what the record of a task may become is decided
 * in `Task`, what is kept in `TaskBook`.
 */
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { CallToolResult } from "@colloquy/protocol/mcp/CodexMcp"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import { WebCrypto } from "effect/crypto/WebCrypto"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Steps from "./Task.ts"
import type { Task, TaskEnd } from "./Task.ts"
import { defaultLimits, type TaskLimits, type TaskPage, type TooManyTasks } from "./TaskBook.ts"
import { type Answers, make as makeQuestions, type TaskQuestions } from "./TaskQuestions.ts"
import { make as makeTable, type TaskTable, type UnknownTask } from "./TaskTable.ts"

/** What the work of a task can do with it. */
export interface TaskControl extends Pick<TaskQuestions, "ask"> {
  readonly id: string
  /** For a person: what it is at. */
  readonly say: (message: string) => Effect.Effect<void>
}

/**
 * Whether who wanted the task has heard of it: `heard` begins the work, `unheard` forgets the task, and `unknown`, where
 * he has taken it back and may have heard of it all the same, keeps it as a cancelled one.
 */
export type Beginning = "heard" | "unheard" | "unknown"

export interface TaskOrder {
  readonly principal: string
  /** As wanted: held to the bounds of the server. Null for ever, absent for the default. */
  readonly ttlMs?: number | null
  /** The first status message. Default: none. */
  readonly message?: string
  /** The work waits for it. Default: it begins at once. */
  readonly begin?: Effect.Effect<Beginning>
  readonly run: (task: TaskControl) => Effect.Effect<CallToolResult, JsonRpcError>
}

/** Room for one task, whose id is known before the task exists. */
export interface TaskReservation {
  readonly id: string
  /** As `Tasks.create`, which fails where this does not; at most once. */
  readonly create: (order: Omit<TaskOrder, "principal">) => Effect.Effect<Task>
}

export interface TasksOptions extends Partial<TaskLimits> {
  /** Of a task whose maker wants nothing else. Default 1 hour. */
  readonly defaultTtl?: Duration.Input
  /** Default 24 hours; null for none, so that a task may be kept for ever. */
  readonly maxTtl?: Duration.Input | null
  /** What pollers are told to wait. Default 1 second: a person or a model is behind most changes. */
  readonly pollInterval?: Duration.Input
}

export class Tasks extends Context.Service<
  Tasks,
  {
    /** Found by its id when this returns; its work begins beside the caller. */
    readonly create: (order: TaskOrder) => Effect.Effect<Task, TooManyTasks>
    /** Counts as a task until the scope closes without one; no client can find or list it before it is created. */
    readonly reserve: (
      principal: string,
    ) => Effect.Effect<TaskReservation, TooManyTasks, Scope.Scope>
    readonly get: (principal: string, id: string) => Effect.Effect<Task, UnknownTask>
    /** Oldest first, those made after that ordinal; at most 100. */
    readonly list: (principal: string, after?: number) => Effect.Effect<TaskPage>
    /** Keys that nothing waits for are ignored. */
    readonly answer: (
      principal: string,
      id: string,
      answers: Answers,
    ) => Effect.Effect<void, UnknownTask>
    /** The task as it was before; its work stops. One that has ended stays as it is. */
    readonly cancel: (principal: string, id: string) => Effect.Effect<Task, UnknownTask>
    /** Waits until the task took a step after that version; gives it as it is then. */
    readonly changed: TaskTable["changed"]
  }
>()("@colloquy/server/Tasks") {
  /** Its tasks end with the scope. */
  static readonly make = (
    options: TasksOptions = {},
  ): Effect.Effect<Tasks["Service"], never, Scope.Scope> => makeTasks(options)

  static readonly layer = (options: TasksOptions = {}): Layer.Layer<Tasks> =>
    Layer.effect(Tasks, makeTasks(options))
}

/** A shorter life would be over before it could be asked for. */
const minTtlMs = 1000

/** What stopped work may take to clean up: a turn's terminal event comes within a second (L14). */
const stopBound = "2 seconds"

/** 128 bits, which nobody guesses. */
const idBytes = 16

const newId = Effect.map(WebCrypto, (crypto) =>
  Base64Url.encode(crypto.getRandomValues(new Uint8Array(idBytes))),
)

const failed = (code: number, message: string): TaskEnd => ({
  _tag: "Error",
  error: new JsonRpcError({ code, message }),
})

const endOf = (exit: Exit.Exit<CallToolResult, JsonRpcError>): Effect.Effect<TaskEnd> => {
  if (exit._tag === "Success") return Effect.succeed({ _tag: "Result", result: exit.value })
  const failure = exit.cause.reasons.find(Cause.isFailReason)
  if (failure !== undefined) return Effect.succeed({ _tag: "Error", error: failure.error })
  return exit.cause.reasons.every(Cause.isInterruptReason)
    ? Effect.succeed(failed(ErrorCode.serverError, "the server is shutting down"))
    : Effect.as(
        Effect.logError("the work of a task died", exit.cause),
        failed(ErrorCode.internalError, "Internal error"),
      )
}

/** What cannot be said in JSON cannot be kept for who asks. Gives the end, and the UTF-16 units of what is kept of it. */
const keepable = (end: TaskEnd): Effect.Effect<readonly [end: TaskEnd, chars: number]> =>
  Effect.try(() => {
    const kept = end._tag === "Result" ? end.result : end._tag === "Error" ? end.error.data : ""
    return [end, JSON.stringify(kept ?? "").length] as const
  }).pipe(
    Effect.catch((fault) =>
      Effect.as(Effect.logError("the result of a task cannot be said in JSON", fault), [
        failed(ErrorCode.internalError, "Internal error"),
        0,
      ] as const),
    ),
  )

interface Work {
  readonly questions: TaskQuestions
  readonly fiber: Fiber.Fiber<void>
}

const makeTasks = Effect.fnUntraced(function* (
  options: TasksOptions,
): Effect.fn.Return<Tasks["Service"], never, Scope.Scope> {
  const maxTtl = options.maxTtl === undefined ? "24 hours" : options.maxTtl
  const maxTtlMs = maxTtl === null ? null : Duration.toMillis(maxTtl)
  const defaultTtlMs = Duration.toMillis(options.defaultTtl ?? "1 hour")
  const pollIntervalMs = Duration.toMillis(options.pollInterval ?? "1 second")
  /** Of the tasks that are kept. */
  const works = new Map<string, Work>()
  const running = new Set<Fiber.Fiber<void>>()
  const table = yield* makeTable({ ...defaultLimits, ...options }, (id) => works.delete(id))

  // Detached fibers: a scope would wait without bound for one that refuses to stop.
  yield* Effect.addFinalizer(() => Effect.timeoutOption(Fiber.interruptAll(running), stopBound))

  const ttlOf = (wanted: number | null = defaultTtlMs): number | null =>
    wanted === null
      ? maxTtlMs
      : Math.min(Math.max(minTtlMs, Math.ceil(wanted)), maxTtlMs ?? Infinity)

  const work = (task: Task, questions: TaskQuestions, order: TaskOrder): Effect.Effect<void> => {
    const control: TaskControl = {
      id: task.id,
      ask: questions.ask,
      say: (message) => table.step(task, (now, nowMs) => Steps.say(now, message, nowMs)),
    }
    const run = Effect.suspend(() => order.run(control)).pipe(
      Effect.onExit((exit) =>
        Effect.flatMap(Effect.flatMap(endOf(exit), keepable), ([end, chars]) =>
          table.step(task, (now, nowMs) => Steps.finish(now, end, nowMs), chars),
        ),
      ),
      // Told to the pollers.
      Effect.exit,
    )
    return Effect.flatMap(order.begin ?? Effect.succeed<Beginning>("heard"), (beginning) => {
      switch (beginning) {
        case "heard":
          return Effect.asVoid(run)
        case "unheard":
          return table.remove(task)
        case "unknown":
          return table.step(task, (now, nowMs) => Steps.finish(now, { _tag: "Cancelled" }, nowMs))
      }
    })
  }

  const start = (task: Task, order: TaskOrder) => {
    const questions = makeQuestions(table, task)
    // Begun at once: the finalizers of `begin` and of the work run however early the task is cancelled.
    return Effect.map(
      Effect.forkDetach(work(task, questions, order), { startImmediately: true }),
      (fiber) => {
        if (fiber.pollUnsafe() !== undefined) return
        running.add(fiber)
        fiber.addObserver(() => running.delete(fiber))
        works.set(task.id, { questions, fiber })
      },
    )
  }

  const reserve: Tasks["Service"]["reserve"] = Effect.fnUntraced(function* (principal) {
    const id = yield* newId
    const fill = yield* table.reserve(principal)
    const create = ({ message, ...order }: Omit<TaskOrder, "principal">) =>
      Effect.gen(function* () {
        const ttlMs = ttlOf(order.ttlMs)
        const made = { id, principal, ttlMs, pollIntervalMs }
        const task = yield* fill((ordinal, nowMs) =>
          Steps.begin({ ...made, ordinal, ...(message === undefined ? {} : { message }) }, nowMs),
        )
        yield* start(task, { ...order, principal })
        return task
      })
    return { id, create: (order) => Effect.uninterruptible(create(order)) }
  })

  return {
    reserve,
    create: ({ principal, ...order }) =>
      Effect.scoped(Effect.flatMap(reserve(principal), ({ create }) => create(order))),
    get: table.find,
    list: (principal, after = 0) => table.page(principal, after),
    answer: (principal, id, answers) =>
      Effect.flatMap(
        table.find(principal, id),
        () => works.get(id)?.questions.answer(answers) ?? Effect.void,
      ),
    cancel: (principal, id) =>
      Effect.tap(table.find(principal, id), (task) => {
        if (task.end !== undefined) return Effect.void
        return Effect.map(
          table.step(task, (now, nowMs) => Steps.finish(now, { _tag: "Cancelled" }, nowMs)),
          () => works.get(id)?.fiber.interruptUnsafe(),
        )
      }),
    changed: table.changed,
  }
})
