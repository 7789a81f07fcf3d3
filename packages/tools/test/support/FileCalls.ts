/** Counts what this process asks of the system through Node: calls of the file system, and processes. */
import * as Effect from "effect/Effect"
import { createRequire, syncBuiltinESMExports } from "node:module"

const require = createRequire(import.meta.url)

/** Number of calls since the last reset. */
interface CallCounts {
  /** Calls of the file system that wait for a thread. */
  waiting: number
  /** All other calls of the file system. */
  immediate: number
  /** Started processes. */
  processes: number
  readonly reset: () => void
}

/** Lets `count` see each call of these functions of a module, in every module that imports it, until the scope closes. */
const observe = (
  name: string,
  isObserved: (member: string) => boolean,
  count: (member: string) => void,
) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const module = require(name) as Record<string, unknown>
      const before: Record<string, unknown> = {}
      for (const member of Object.keys(module).filter(isObserved)) {
        const value = module[member]
        if (typeof value !== "function") continue
        before[member] = value
        module[member] = function (this: unknown, ...args: ReadonlyArray<unknown>): unknown {
          count(member)
          return Reflect.apply(value, this, args)
        }
      }
      syncBuiltinESMExports()
      return () => Object.assign(module, before)
    }),
    (restore) =>
      Effect.sync(() => {
        restore()
        syncBuiltinESMExports()
      }),
  )

/** Functions, and neither classes nor streams and watchers. */
const isCall = (member: string) => /^[a-z]/.test(member) && !/^(?:create|watch|_)/.test(member)

/**
 * Counts the calls of all modules until the scope closes, except those of modules that took the functions of
 * `process.getBuiltinModule` before.
 */
export const observeCalls = Effect.gen(function* () {
  const counts: CallCounts = {
    waiting: 0,
    immediate: 0,
    processes: 0,
    reset: () => Object.assign(counts, { waiting: 0, immediate: 0, processes: 0 }),
  }
  yield* observe("node:fs", isCall, (member) => {
    if (member.endsWith("Sync")) counts.immediate++
    else counts.waiting++
  })
  yield* observe("node:fs/promises", isCall, () => counts.waiting++)
  yield* observe(
    "node:child_process",
    (member) => member === "spawn",
    () => counts.processes++,
  )
  return counts
})
