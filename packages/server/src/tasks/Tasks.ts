/**
 * The running tasks of a server. The work of each runs in its own fiber, which outlives the call and the connection that
 * created it and ends with this service at the latest (L8). Knows no wire form; `Task` decides how the record of a task
 * may change, and `TaskBook` decides what is kept.
 */
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
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
import { internalError, stoppedError } from "../jsonrpc/PeerErrors.ts"
import type { InputRequest, InputResponse } from "../mcp/RequestContext.ts"
import * as Steps from "./Task.ts"
import type { Task, TaskEnd } from "./Task.ts"
import { defaultLimits, type TaskLimits, type TaskPage, type TooManyTasks } from "./TaskBook.ts"
import { type Answers, TaskQuestions } from "./TaskQuestions.ts"
import { TaskTable, type UnknownTask } from "./TaskTable.ts"

/** What the work of a task can do with its task. */
export interface TaskControl {
  readonly id: string
  /**
   * Adds the questions to the task and resolves with all answers. Fails with the error that a client responded with.
   * When it is interrupted, the questions are withdrawn.
   */
  readonly ask: <K extends string>(
    questions: Readonly<Record<K, InputRequest>>,
  ) => Effect.Effect<Readonly<Record<K, InputResponse>>, JsonRpcError>
  /** Sets the status message: what the work is doing, for a person. Ignored once the task has ended. */
  readonly setMessage: (message: string) => Effect.Effect<void>
}

/**
 * Whether the client that requested the task has received the response that names it. `accepted`: the connection took
 * the response, and the work starts. `unsent`: the response was never sent, and the task is removed. `unknown`: the
 * client cancelled the request and may have received the response all the same; the task is kept as cancelled.
 */
export type ResponseDelivery = "accepted" | "unsent" | "unknown"

/** A task to create. */
export interface NewTask {
  /** The principal that the task belongs to. */
  readonly principal: string
  /** The requested time to live, limited by the server's bounds. Null for ever, absent for the default. */
  readonly ttlMs?: number | null
  /** The first status message. Default: none. */
  readonly message?: string
  /** The work starts once this resolves with `accepted`. Default: it starts at once. */
  readonly delivery?: Effect.Effect<ResponseDelivery>
  /** The work. Its result or error becomes the end of the task. */
  readonly run: (task: TaskControl) => Effect.Effect<CallToolResult, JsonRpcError>
}

/** Room for one task, whose id is known before the task exists. */
export interface TaskReservation {
  readonly id: string
  /** Like `Tasks.create`, but never fails for want of room; can be used once. */
  readonly create: (task: Omit<NewTask, "principal">) => Effect.Effect<Task>
}

/** Settings of the tasks of one server. */
export interface TasksOptions extends Partial<TaskLimits> {
  /** Time to live of a task that was created without one. Default 1 hour. */
  readonly defaultTtl?: Duration.Input
  /** Longest time to live. Default 24 hours; null for none, so that a task may be kept for ever. */
  readonly maxTtl?: Duration.Input | null
  /** How long clients are asked to wait between polls. Default 1 second: a person or a model causes most changes. */
  readonly pollInterval?: Duration.Input
}

/** The tasks of a server, by principal. */
export class Tasks extends Context.Service<
  Tasks,
  {
    /** Resolves once `get` finds the task; its work runs in its own fiber. */
    readonly create: (task: NewTask) => Effect.Effect<Task, TooManyTasks>
    /**
     * Reserves room, which counts as a task until the scope closes without one. No client can find or list the task
     * before it is created.
     */
    readonly reserve: (
      principal: string,
    ) => Effect.Effect<TaskReservation, TooManyTasks, Scope.Scope>
    /** The task as it is now. */
    readonly get: (principal: string, id: string) => Effect.Effect<Task, UnknownTask>
    /** Tasks created after that ordinal (default: all), oldest first; at most 100. */
    readonly list: (principal: string, after?: number) => Effect.Effect<TaskPage>
    /** Answers questions of the task; keys without a pending question are ignored. */
    readonly answer: (
      principal: string,
      id: string,
      answers: Answers,
    ) => Effect.Effect<void, UnknownTask>
    /** Cancels the task, interrupts its work and resolves with the task as it was before. An ended task stays as it is. */
    readonly cancel: (principal: string, id: string) => Effect.Effect<Task, UnknownTask>
    /** Resolves once the task has a higher version than the given one, with the task as it is then. */
    readonly changed: (
      principal: string,
      id: string,
      version: number,
    ) => Effect.Effect<Task, UnknownTask>
  }
>()("@colloquy/server/Tasks") {
  /** Makes the service; its tasks end when the scope closes. */
  static readonly make = (
    options: TasksOptions = {},
  ): Effect.Effect<Tasks["Service"], never, Scope.Scope> => RunningTasks.make(options)

  /** The service as a layer. */
  static readonly layer = (options: TasksOptions = {}): Layer.Layer<Tasks> =>
    Layer.effect(Tasks, RunningTasks.make(options))
}

/** With a shorter time to live the task would expire before a client could poll for it. */
const minTtlMs = 1000

/** How long interrupted work may clean up: the terminal event of a turn comes within a second (L14). */
const stopBound = "2 seconds"

/** 128 random bits, so that an id cannot be guessed. */
const idBytes = 16

const newId = Effect.map(WebCrypto, (crypto) =>
  Base64Url.encode(crypto.getRandomValues(new Uint8Array(idBytes))),
)

const failed = (error: JsonRpcError): TaskEnd => ({ _tag: "Error", error })

const endOf = (exit: Exit.Exit<CallToolResult, JsonRpcError>): Effect.Effect<TaskEnd> => {
  if (exit._tag === "Success") return Effect.succeed({ _tag: "Result", result: exit.value })
  const failure = exit.cause.reasons.find(Cause.isFailReason)
  if (failure !== undefined) return Effect.succeed(failed(failure.error))
  return exit.cause.reasons.every(Cause.isInterruptReason)
    ? Effect.succeed(failed(stoppedError()))
    : Effect.as(Effect.logError("task fiber failed", exit.cause), failed(internalError()))
}

/**
 * The end with the number of UTF-16 code units of its JSON. A result that cannot be encoded in JSON could never be sent,
 * so it is logged and replaced by an internal error.
 */
const keepable = (end: TaskEnd): Effect.Effect<readonly [end: TaskEnd, chars: number]> =>
  Effect.try(() => {
    const kept = end._tag === "Result" ? end.result : end._tag === "Error" ? end.error.data : ""
    return [end, JSON.stringify(kept ?? "").length] as const
  }).pipe(
    Effect.catch((fault) =>
      Effect.as(Effect.logError("the result of a task cannot be encoded in JSON", fault), [
        failed(internalError()),
        0,
      ] as const),
    ),
  )

/** The running or ended work of a kept task. */
interface Work {
  readonly questions: TaskQuestions
  readonly fiber: Fiber.Fiber<void>
}

const cancelled: TaskEnd = { _tag: "Cancelled" }

/** The requested time to live within the server's bounds; null for ever. */
const boundTtl = (options: TasksOptions) => {
  const maxTtl = options.maxTtl === undefined ? "24 hours" : options.maxTtl
  const maxTtlMs = maxTtl === null ? null : Duration.toMillis(maxTtl)
  const defaultTtlMs = Duration.toMillis(options.defaultTtl ?? "1 hour")
  return (requestedMs: number | null = defaultTtlMs): number | null =>
    requestedMs === null
      ? maxTtlMs
      : Math.min(Math.max(minTtlMs, Math.ceil(requestedMs)), maxTtlMs ?? Infinity)
}

/** The implementation of `Tasks`. */
class RunningTasks {
  private readonly table: TaskTable
  /** By id, for the tasks that are kept. */
  private readonly works: Map<string, Work>
  private readonly running = new Set<Fiber.Fiber<void>>()
  private readonly boundTtl: (requestedMs?: number | null) => number | null
  private readonly pollIntervalMs: number

  private constructor(table: TaskTable, works: Map<string, Work>, options: TasksOptions) {
    this.table = table
    this.works = works
    this.boundTtl = boundTtl(options)
    this.pollIntervalMs = Duration.toMillis(options.pollInterval ?? "1 second")
  }

  static readonly make = Effect.fnUntraced(function* (
    options: TasksOptions,
  ): Effect.fn.Return<Tasks["Service"], never, Scope.Scope> {
    const works = new Map<string, Work>()
    const table = yield* TaskTable.make({ ...defaultLimits, ...options }, (id) => works.delete(id))
    const tasks = new RunningTasks(table, works, options)
    const { running } = tasks
    // Detached fibers: a scope would wait without bound for work that does not stop when it is interrupted.
    yield* Effect.addFinalizer(() => Effect.timeoutOption(Fiber.interruptAll(running), stopBound))
    return tasks.service()
  })

  private service(): Tasks["Service"] {
    return {
      reserve: (principal) => this.reserve(principal),
      create: ({ principal, ...task }) =>
        Effect.scoped(Effect.flatMap(this.reserve(principal), ({ create }) => create(task))),
      get: (principal, id) => this.table.find(principal, id),
      list: (principal, after = 0) => this.table.page(principal, after),
      answer: (principal, id, answers) =>
        Effect.flatMap(
          this.table.find(principal, id),
          () => this.works.get(id)?.questions.answer(answers) ?? Effect.void,
        ),
      cancel: (principal, id) => this.cancel(principal, id),
      changed: (principal, id, version) => this.table.changed(principal, id, version),
    }
  }

  private finish(task: Task, end: TaskEnd, chars?: number): Effect.Effect<void> {
    return this.table.update(task, (now, nowMs) => Steps.finish(now, end, nowMs), chars)
  }

  private cancel(principal: string, id: string): Effect.Effect<Task, UnknownTask> {
    return Effect.tap(this.table.find(principal, id), (task) => {
      if (task.end !== undefined) return Effect.void
      return Effect.map(this.finish(task, cancelled), () =>
        this.works.get(id)?.fiber.interruptUnsafe(),
      )
    })
  }

  private reserve(principal: string) {
    return Effect.gen({ self: this }, function* () {
      const id = yield* newId
      const fill = yield* this.table.reserve(principal)
      const create = (task: Omit<NewTask, "principal">) =>
        Effect.uninterruptible(this.create(fill, { id, principal }, task))
      return { id, create }
    })
  }

  private create(
    fill: Effect.Success<ReturnType<TaskTable["reserve"]>>,
    named: Pick<Task, "id" | "principal">,
    { message, ...task }: Omit<NewTask, "principal">,
  ): Effect.Effect<Task> {
    const ttlMs = this.boundTtl(task.ttlMs)
    const made = { ...named, ttlMs, pollIntervalMs: this.pollIntervalMs }
    return Effect.tap(
      fill((ordinal, nowMs) =>
        Steps.create({ ...made, ordinal, ...(message === undefined ? {} : { message }) }, nowMs),
      ),
      (created) => this.start(created, { ...task, principal: named.principal }),
    )
  }

  private start(task: Task, wanted: NewTask): Effect.Effect<void> {
    const questions = new TaskQuestions(this.table, task)
    // Started at once: finalizers of `delivery` and of the work run however early the task is cancelled.
    return Effect.map(
      Effect.forkDetach(this.work(task, questions, wanted), { startImmediately: true }),
      (fiber) => {
        if (fiber.pollUnsafe() !== undefined) return
        this.running.add(fiber)
        fiber.addObserver(() => this.running.delete(fiber))
        this.works.set(task.id, { questions, fiber })
      },
    )
  }

  /** Waits for the delivery of the response, then runs the work, unless the client never learned of the task. */
  private work(task: Task, questions: TaskQuestions, wanted: NewTask): Effect.Effect<void> {
    const delivery = wanted.delivery ?? Effect.succeed<ResponseDelivery>("accepted")
    return Effect.flatMap(delivery, (delivered) => {
      switch (delivered) {
        case "accepted":
          return this.run(task, questions, wanted)
        case "unsent":
          return this.table.remove(task)
        case "unknown":
          return this.finish(task, cancelled)
      }
    })
  }

  private run(task: Task, questions: TaskQuestions, wanted: NewTask): Effect.Effect<void> {
    const control: TaskControl = {
      id: task.id,
      ask: (asked) => questions.ask(asked),
      setMessage: (message) =>
        this.table.update(task, (now, nowMs) => Steps.setMessage(now, message, nowMs)),
    }
    return Effect.suspend(() => wanted.run(control)).pipe(
      Effect.onExit((exit) =>
        Effect.flatMap(Effect.flatMap(endOf(exit), keepable), ([end, chars]) =>
          this.finish(task, end, chars),
        ),
      ),
      // The failure is in the record now, where clients that poll read it.
      Effect.exit,
      Effect.asVoid,
    )
  }
}
