/**
 * The tasks of a server, per principal, in the order in which they were created. Bounded in number and in the size of
 * the kept results (L6); removes a task when its time to live has passed and never before. Holds no fiber and reads no
 * clock: the caller gives the time.
 */
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import { expiresAtMs, type Task } from "./Task.ts"

/** Bounds of a `TaskBook`. */
export interface TaskLimits {
  /** Tasks of all principals, running or kept. Default 4,096. */
  readonly maxTasks: number
  /** Tasks of one principal. Default 1,024. */
  readonly maxPerPrincipal: number
  /** UTF-16 code units of the JSON of all kept results; no task is created while there are more. Default 64 Mi. */
  readonly maxKeptChars: number
}

/** Enough for every client that polls; with results of usual size well below 100 MB of memory. */
export const defaultLimits: TaskLimits = {
  maxTasks: 4096,
  maxPerPrincipal: 1024,
  maxKeptChars: 64 * 1024 * 1024,
}

/** There is no room for one more task; `limit` names the bound that was reached. */
export class TooManyTasks extends Data.TaggedError("TooManyTasks")<{
  readonly limit: keyof TaskLimits
  readonly max: number
}> {
  override readonly message = `no room for another task: ${this.limit} is ${this.max}; ended tasks are removed after their ttl`
}

/** One page of a list of tasks. */
export interface TaskPage {
  /** In the order of creation. */
  readonly tasks: ReadonlyArray<Task>
  /** Ordinal of the last task of this page; absent on the last page. */
  readonly next?: number
}

/** Room for one task of one principal. */
interface TaskPlace {
  /** Stores the task in this place. Throws when the place was filled or released before. */
  readonly fill: (make: (ordinal: number) => Task) => Task
  /** Gives the room back; ignored once the place is filled or released. */
  readonly release: () => void
}

interface KeptTask {
  task: Task
  /** UTF-16 code units of the JSON of its result; 0 while there is none. */
  chars: number
}

const isExpired = (task: Task, nowMs: number): boolean => (expiresAtMs(task) ?? Infinity) <= nowMs

/** Stores the tasks of one server. Every method is synchronous. */
export class TaskBook {
  /** By principal and id. Maps keep the order of insertion, which is the order of creation. */
  private readonly owners = new Map<string, Map<string, KeptTask>>()
  /** Number of the reserved places per principal. */
  private readonly reserved = new Map<string, number>()
  private readonly limits: TaskLimits
  private stored = 0
  private allReserved = 0
  private ordinal = 0
  private keptChars = 0

  constructor(limits: TaskLimits) {
    this.limits = limits
  }

  /** Number of the stored tasks; reserved places are not counted. */
  get size(): number {
    return this.stored
  }

  /** Reserves room, which counts as a task of that principal until it is released. */
  reserve(principal: string): Result.Result<TaskPlace, TooManyTasks> {
    const limit = this.reachedLimit(principal)
    return limit === undefined
      ? Result.succeed(this.placeOf(principal))
      : Result.fail(new TooManyTasks({ limit, max: this.limits[limit] }))
  }

  /** Undefined for a task that is unknown, expired, or belongs to another principal. */
  find(principal: string, id: string, nowMs: number): Task | undefined {
    const task = this.owners.get(principal)?.get(id)?.task
    return task === undefined || isExpired(task, nowMs) ? undefined : task
  }

  /** Replaces the stored task of that id; ignored when there is none. `chars` is the size of its result, if it changed. */
  put(task: Task, chars?: number): void {
    const kept = this.owners.get(task.principal)?.get(task.id)
    if (kept === undefined) return
    kept.task = task
    if (chars === undefined) return
    this.keptChars += chars - kept.chars
    kept.chars = chars
  }

  /** Removes the task; ignored when it is not stored. */
  remove({ principal, id }: Task): void {
    const owned = this.owners.get(principal)
    const kept = owned?.get(id)
    if (owned === undefined || kept === undefined) return
    owned.delete(id)
    this.stored--
    this.keptChars -= kept.chars
    if (owned.size === 0) this.owners.delete(principal)
  }

  /** At most `size` tasks of the principal that were created after that ordinal, oldest first. */
  page(principal: string, after: number, size: number, nowMs: number): TaskPage {
    const tasks: Array<Task> = []
    for (const { task } of this.owners.get(principal)?.values() ?? []) {
      if (task.ordinal <= after || isExpired(task, nowMs)) continue
      if (tasks.length === size) return { tasks, next: tasks.at(-1)?.ordinal ?? after }
      tasks.push(task)
    }
    return { tasks }
  }

  /** Removes the expired tasks and returns their ids. */
  sweep(nowMs: number): ReadonlyArray<string> {
    const expired = [...this.all()].filter(({ task }) => isExpired(task, nowMs))
    for (const { task } of expired) this.remove(task)
    return expired.map(({ task }) => task.id)
  }

  /** When the next task expires; undefined when no stored task has a known expiry. */
  nextExpiryMs(): number | undefined {
    let next: number | undefined
    for (const { task } of this.all()) {
      const at = expiresAtMs(task)
      if (at !== undefined && (next === undefined || at < next)) next = at
    }
    return next
  }

  private *all(): Generator<KeptTask> {
    for (const owned of this.owners.values()) yield* owned.values()
  }

  private reachedLimit(principal: string): keyof TaskLimits | undefined {
    if (this.stored + this.allReserved >= this.limits.maxTasks) return "maxTasks"
    const owned = (this.owners.get(principal)?.size ?? 0) + (this.reserved.get(principal) ?? 0)
    if (owned >= this.limits.maxPerPrincipal) return "maxPerPrincipal"
    return this.keptChars > this.limits.maxKeptChars ? "maxKeptChars" : undefined
  }

  private countReserved(principal: string, change: 1 | -1): void {
    const count = (this.reserved.get(principal) ?? 0) + change
    if (count === 0) this.reserved.delete(principal)
    else this.reserved.set(principal, count)
    this.allReserved += change
  }

  private store(principal: string, task: Task): void {
    const owned = this.owners.get(principal) ?? new Map<string, KeptTask>()
    this.owners.set(principal, owned.set(task.id, { task, chars: 0 }))
    this.stored++
  }

  private placeOf(principal: string): TaskPlace {
    let isOpen = true
    this.countReserved(principal, 1)
    const release = () => {
      if (isOpen) this.countReserved(principal, -1)
      isOpen = false
    }
    return {
      fill: (makeTask) => {
        if (!isOpen) throw new Error("the place of a task was filled or released before")
        release()
        const task = makeTask(++this.ordinal)
        this.store(principal, task)
        return task
      },
      release,
    }
  }
}
