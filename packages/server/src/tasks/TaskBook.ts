/**
 * The tasks of a server, by owner: bounded, in the order they were made, each forgotten when its time is over and not
 * before. Holds no fiber and reads no clock: the time is given. Keeps its part of L6.
 */
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import { expiresAtMs, type Task } from "./Task.ts"

export interface TaskLimits {
  /** Tasks of all owners, running or kept. Default 4,096. */
  readonly maxTasks: number
  /** Of one owner. Default 1,024. */
  readonly maxPerPrincipal: number
  /** UTF-16 code units of the JSON of all results that are kept; no task begins while there are more. Default 64 Mi. */
  readonly maxKeptChars: number
}

export const defaultLimits: TaskLimits = {
  maxTasks: 4096,
  maxPerPrincipal: 1024,
  maxKeptChars: 64 * 1024 * 1024,
}

/** No room for one more; `limit` names the bound that was reached. */
export class TooManyTasks extends Data.TaggedError("TooManyTasks")<{
  readonly limit: keyof TaskLimits
  readonly max: number
}> {
  override readonly message = `no room for another task: ${this.limit} is ${this.max}; what has ended is forgotten after its ttl`
}

export interface TaskPage {
  readonly tasks: ReadonlyArray<Task>
  /** Ordinal of the last of them, when there are more. */
  readonly next?: number
}

/** Room for one task of one owner. */
interface TaskPlace {
  /** Stores the task in this place; at most once, and not after `release`. */
  readonly fill: (make: (ordinal: number) => Task) => Task
  /** Gives the room back; ignored once the place is filled or released. */
  readonly release: () => void
}

export interface TaskBook {
  /** Counts as a task of that owner until it is released. */
  readonly reserve: (principal: string) => Result.Result<TaskPlace, TooManyTasks>
  /** Undefined for a task that is unknown, expired, or of somebody else. */
  readonly find: (principal: string, id: string, nowMs: number) => Task | undefined
  /** Takes the place of the task with that id; ignored when there is none. `chars`: those of its result. */
  readonly put: (task: Task, chars?: number) => void
  readonly remove: (task: Task) => void
  /** Oldest first, those made after that ordinal. */
  readonly page: (principal: string, after: number, size: number, nowMs: number) => TaskPage
  /** Forgets what has expired; gives their ids. */
  readonly sweep: (nowMs: number) => ReadonlyArray<string>
  /** When the next one expires; undefined when none will as things are. */
  readonly nextExpiryMs: () => number | undefined
  /** Number of the stored tasks; reserved places are not counted. */
  readonly size: number
}

interface Kept {
  task: Task
  chars: number
}

const isExpired = (task: Task, nowMs: number): boolean => (expiresAtMs(task) ?? Infinity) <= nowMs

export const make = (limits: TaskLimits): TaskBook => {
  /** Maps keep the order of insertion: that of creation. */
  const owners = new Map<string, Map<string, Kept>>()
  /** Number of the reserved places by owner. */
  const reserved = new Map<string, number>()
  let size = 0
  let allReserved = 0
  let ordinal = 0
  let keptChars = 0

  const all = function* () {
    for (const owned of owners.values()) yield* owned.values()
  }

  const remove = ({ principal, id }: Task): void => {
    const owned = owners.get(principal)
    const kept = owned?.get(id)
    if (owned === undefined || kept === undefined) return
    owned.delete(id)
    size--
    keptChars -= kept.chars
    if (owned.size === 0) owners.delete(principal)
  }

  const sweep = (nowMs: number): ReadonlyArray<string> => {
    const expired = [...all()].filter(({ task }) => isExpired(task, nowMs))
    for (const { task } of expired) remove(task)
    return expired.map(({ task }) => task.id)
  }

  const full = (principal: string): keyof TaskLimits | undefined => {
    if (size + allReserved >= limits.maxTasks) return "maxTasks"
    const owned = (owners.get(principal)?.size ?? 0) + (reserved.get(principal) ?? 0)
    if (owned >= limits.maxPerPrincipal) return "maxPerPrincipal"
    return keptChars > limits.maxKeptChars ? "maxKeptChars" : undefined
  }

  const countReserved = (principal: string, change: 1 | -1): void => {
    const count = (reserved.get(principal) ?? 0) + change
    if (count === 0) reserved.delete(principal)
    else reserved.set(principal, count)
    allReserved += change
  }

  const placeOf = (principal: string): TaskPlace => {
    let open = true
    countReserved(principal, 1)
    const release = () => {
      if (open) countReserved(principal, -1)
      open = false
    }
    return {
      fill: (makeTask) => {
        if (!open) throw new Error("the place of a task was filled or released before")
        release()
        const task = makeTask(++ordinal)
        const owned = owners.get(principal) ?? new Map<string, Kept>()
        owners.set(principal, owned.set(task.id, { task, chars: 0 }))
        size++
        return task
      },
      release,
    }
  }

  return {
    reserve: (principal) => {
      const limit = full(principal)
      return limit === undefined
        ? Result.succeed(placeOf(principal))
        : Result.fail(new TooManyTasks({ limit, max: limits[limit] }))
    },
    find: (principal, id, nowMs) => {
      const task = owners.get(principal)?.get(id)?.task
      return task === undefined || isExpired(task, nowMs) ? undefined : task
    },
    put: (task, chars) => {
      const kept = owners.get(task.principal)?.get(task.id)
      if (kept === undefined) return
      kept.task = task
      if (chars === undefined) return
      keptChars += chars - kept.chars
      kept.chars = chars
    },
    remove,
    page: (principal, after, wanted, nowMs) => {
      const tasks: Array<Task> = []
      for (const { task } of owners.get(principal)?.values() ?? []) {
        if (task.ordinal <= after || isExpired(task, nowMs)) continue
        if (tasks.length === wanted) return { tasks, next: tasks.at(-1)?.ordinal ?? after }
        tasks.push(task)
      }
      return { tasks }
    },
    sweep,
    nextExpiryMs: () => {
      let next: number | undefined
      for (const { task } of all()) {
        const at = expiresAtMs(task)
        if (at !== undefined && (next === undefined || at < next)) next = at
      }
      return next
    },
    get size() {
      return size
    },
  }
}
