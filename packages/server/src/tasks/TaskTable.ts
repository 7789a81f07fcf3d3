/**
 * The book of tasks as fibers see it: steps by the clock, waiting for the next step, forgetting on time. Decides
 * nothing about a task; keeps no fiber but the one that sleeps until the next expiry.
 */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { expiresAtMs, type Task } from "./Task.ts"
import { make as makeBook, type TaskLimits, type TaskPage, type TooManyTasks } from "./TaskBook.ts"

/** No such task of that owner: never made, expired, or somebody else's. */
export class UnknownTask extends Data.TaggedError("UnknownTask") {
  override readonly message = "taskId: expected the id of a task that is running or kept"
}

/** A page of a list. More than that is asked for by its cursor. */
const pageSize = 100

/** Stores the task that is made in the place that was reserved; at most once. */
type Fill = (make: (ordinal: number, nowMs: number) => Task) => Effect.Effect<Task>

export interface TaskTable {
  /** Room for one task, for the length of the scope unless it is filled. */
  readonly reserve: (principal: string) => Effect.Effect<Fill, TooManyTasks, Scope.Scope>
  readonly find: (principal: string, id: string) => Effect.Effect<Task, UnknownTask>
  /** A step of the task as it is now; none when it is forgotten. `chars`: those of its result. */
  readonly step: (
    of: Pick<Task, "principal" | "id">,
    next: (task: Task, nowMs: number) => Task,
    chars?: number,
  ) => Effect.Effect<void>
  readonly remove: (task: Task) => Effect.Effect<void>
  /** Waits until the task took a step after that version; gives it as it is then. */
  readonly changed: (
    principal: string,
    id: string,
    version: number,
  ) => Effect.Effect<Task, UnknownTask>
  readonly page: (principal: string, after: number) => Effect.Effect<TaskPage>
}

/** `onForgotten` hears of every task that is kept no more. */
export const make = Effect.fnUntraced(function* (
  limits: TaskLimits,
  onForgotten: (id: string) => void,
): Effect.fn.Return<TaskTable, never, Scope.Scope> {
  const book = makeBook(limits)
  /** Of each task: opened at its next step. */
  const changes = new Map<string, Latch.Latch>()
  /** Opened when something expires before the sweeper wakes. */
  const earlier = Latch.makeUnsafe(false)
  let sleepsUntilMs = 0

  const forget = (id: string): void => {
    changes.get(id)?.openUnsafe()
    changes.delete(id)
    onForgotten(id)
  }

  const sweep = Effect.gen(function* () {
    const nowMs = yield* Clock.currentTimeMillis
    book.sweep(nowMs).forEach(forget)
    sleepsUntilMs = book.nextExpiryMs() ?? Infinity
    earlier.closeUnsafe()
    yield* sleepsUntilMs === Infinity
      ? earlier.await
      : Effect.timeoutOption(earlier.await, sleepsUntilMs - nowMs)
  })
  yield* Effect.forkScoped(Effect.forever(sweep))

  const reserve = (principal: string) =>
    Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
      const reserved = book.reserve(principal)
      if (Result.isSuccess(reserved)) return Effect.fromResult(reserved)
      book.sweep(nowMs).forEach(forget)
      return Effect.fromResult(book.reserve(principal))
    })

  const find: TaskTable["find"] = (principal, id) =>
    Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
      const task = book.find(principal, id, nowMs)
      return task === undefined ? Effect.fail(new UnknownTask()) : Effect.succeed(task)
    })

  return {
    reserve: (principal) =>
      Effect.map(
        Effect.acquireRelease(reserve(principal), (place) => Effect.sync(place.release)),
        (place) => (makeTask) =>
          Effect.map(Clock.currentTimeMillis, (nowMs) => {
            const task = place.fill((ordinal) => makeTask(ordinal, nowMs))
            changes.set(task.id, Latch.makeUnsafe(false))
            return task
          }),
      ),
    find,
    step: ({ principal, id }, next, chars) =>
      Effect.map(Clock.currentTimeMillis, (nowMs) => {
        const task = book.find(principal, id, nowMs)
        if (task === undefined) return
        const stepped = next(task, nowMs)
        if (stepped === task) return
        book.put(stepped, chars)
        changes.get(id)?.openUnsafe()
        changes.set(id, Latch.makeUnsafe(false))
        if ((expiresAtMs(stepped) ?? Infinity) < sleepsUntilMs) earlier.openUnsafe()
      }),
    remove: (task) =>
      Effect.sync(() => {
        book.remove(task)
        forget(task.id)
      }),
    changed: (principal, id, version) => {
      const wait: Effect.Effect<Task, UnknownTask> = Effect.flatMap(find(principal, id), (task) => {
        const change = changes.get(id)
        return task.version > version || change === undefined
          ? Effect.succeed(task)
          : Effect.andThen(change.await, wait)
      })
      return wait
    },
    page: (principal, after) =>
      Effect.map(Clock.currentTimeMillis, (nowMs) => book.page(principal, after, pageSize, nowMs)),
  }
})
