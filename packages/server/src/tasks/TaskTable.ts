/**
 * The `TaskBook` as fibers use it: changes with the clock's time, waiting for the next change, removal at expiry. Decides
 * nothing about a task. Its only fiber sleeps until the next expiry and removes what has expired then.
 */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { expiresAtMs, type Task } from "./Task.ts"
import { TaskBook, type TaskLimits, type TaskPage, type TooManyTasks } from "./TaskBook.ts"

/** The principal has no such task: it never existed, has expired, or belongs to another principal. */
export class UnknownTask extends Data.TaggedError("UnknownTask") {
  override readonly message = "taskId: expected the id of a task that is running or kept"
}

/** Tasks per page of a list; a client requests further ones with the cursor. */
const pageSize = 100

/** Stores the created task in the reserved place; can be used once. */
type Fill = (make: (ordinal: number, nowMs: number) => Task) => Effect.Effect<Task>

/** Stores the tasks of one server and notifies fibers of their changes. */
export class TaskTable {
  private readonly book: TaskBook
  private readonly onRemoved: (id: string) => void
  /** By task id: opened at the next change of that task. */
  private readonly changes = new Map<string, Latch.Latch>()
  /** Opened when a task will expire before the sweeper wakes. */
  private readonly earlier = Latch.makeUnsafe(false)
  private sleepsUntilMs = 0

  private constructor(limits: TaskLimits, onRemoved: (id: string) => void) {
    this.book = new TaskBook(limits)
    this.onRemoved = onRemoved
  }

  /** Makes an empty table, whose sweeper runs in the scope. `onRemoved` gets the id of every task that is removed. */
  static readonly make = (
    limits: TaskLimits,
    onRemoved: (id: string) => void,
  ): Effect.Effect<TaskTable, never, Scope.Scope> =>
    Effect.suspend(() => {
      const table = new TaskTable(limits, onRemoved)
      return Effect.as(Effect.forkScoped(Effect.forever(table.sweepAtExpiry)), table)
    })

  /** Reserves room for one task; released when the scope closes, unless it was filled. */
  reserve(principal: string): Effect.Effect<Fill, TooManyTasks, Scope.Scope> {
    return Effect.map(
      Effect.acquireRelease(this.place(principal), (place) => Effect.sync(place.release)),
      (place) => (makeTask) =>
        Effect.map(Clock.currentTimeMillis, (nowMs) => {
          const task = place.fill((ordinal) => makeTask(ordinal, nowMs))
          this.changes.set(task.id, Latch.makeUnsafe(false))
          return task
        }),
    )
  }

  /** The task as it is now. */
  find(principal: string, id: string): Effect.Effect<Task, UnknownTask> {
    return Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
      const task = this.book.find(principal, id, nowMs)
      return task === undefined ? Effect.fail(new UnknownTask()) : Effect.succeed(task)
    })
  }

  /**
   * Applies `change` to the task as it is now, and wakes the fibers that wait for a change unless it returns the same
   * task. Does nothing when the task was removed. `chars` is the size of its result, if that changed.
   */
  update(
    { principal, id }: Pick<Task, "principal" | "id">,
    change: (task: Task, nowMs: number) => Task,
    chars?: number,
  ): Effect.Effect<void> {
    return Effect.map(Clock.currentTimeMillis, (nowMs) => {
      const task = this.book.find(principal, id, nowMs)
      if (task === undefined) return
      const updated = change(task, nowMs)
      if (updated === task) return
      this.book.put(updated, chars)
      this.changes.get(id)?.openUnsafe()
      this.changes.set(id, Latch.makeUnsafe(false))
      if ((expiresAtMs(updated) ?? Infinity) < this.sleepsUntilMs) this.earlier.openUnsafe()
    })
  }

  /** Removes the task before it expires. */
  remove(task: Task): Effect.Effect<void> {
    return Effect.sync(() => {
      this.book.remove(task)
      this.afterRemoval(task.id)
    })
  }

  /** Resolves once the task has a higher version than the given one, with the task as it is then. */
  changed(principal: string, id: string, version: number): Effect.Effect<Task, UnknownTask> {
    return Effect.flatMap(this.find(principal, id), (task) => {
      const change = this.changes.get(id)
      return task.version > version || change === undefined
        ? Effect.succeed(task)
        : Effect.andThen(change.await, this.changed(principal, id, version))
    })
  }

  /** Tasks of the principal that were created after that ordinal, oldest first; at most 100. */
  page(principal: string, after: number): Effect.Effect<TaskPage> {
    return Effect.map(Clock.currentTimeMillis, (nowMs) =>
      this.book.page(principal, after, pageSize, nowMs),
    )
  }

  /** Removes expired tasks first when there is no room. */
  private place(principal: string) {
    return Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
      const reserved = this.book.reserve(principal)
      if (Result.isSuccess(reserved)) return Effect.fromResult(reserved)
      this.sweep(nowMs)
      return Effect.fromResult(this.book.reserve(principal))
    })
  }

  private afterRemoval(id: string): void {
    this.changes.get(id)?.openUnsafe()
    this.changes.delete(id)
    this.onRemoved(id)
  }

  private sweep(nowMs: number): void {
    for (const id of this.book.sweep(nowMs)) this.afterRemoval(id)
  }

  private readonly sweepAtExpiry: Effect.Effect<void> = Effect.flatMap(
    Clock.currentTimeMillis,
    (nowMs) => {
      this.sweep(nowMs)
      this.sleepsUntilMs = this.book.nextExpiryMs() ?? Infinity
      this.earlier.closeUnsafe()
      return this.sleepsUntilMs === Infinity
        ? this.earlier.await
        : Effect.asVoid(Effect.timeoutOption(this.earlier.await, this.sleepsUntilMs - nowMs))
    },
  )
}
