/** Faults of what an agent depends on, for tests of what becomes of its turns then. */
import * as FullStore from "@colloquy/testing/FullStore"
import { checkOptions, duration, is, type Kind } from "../internal/Options.ts"
import { fails, type ScriptedPart } from "./ScriptedModel.ts"

const roomKind = is(
  "a whole number from 0 on, or Infinity",
  (value) => value === Infinity || (Number.isSafeInteger(value) && Number(value) >= 0),
)

/** Lets a wrong value be refused where a test sets it, not where the store uses it. */
const checkWhenSet = (store: FullStore.FullStore, key: "room" | "delay", kind: Kind): void => {
  let value: unknown = store[key]
  Object.defineProperty(store, key, {
    get: () => value,
    set: (next: unknown) => {
      checkOptions(`Agent.faultyStore ${key}`, kind, next)
      value = next
    },
  })
}

/**
 * A store in memory with faults that a test switches on and off: `room` is the number of batches of events that it still
 * records before every write fails, `delay` what each write takes.
 *
 * ```ts
 * const store = Agent.faultyStore()
 * const till = Agent.test({ store: store.layer, script: ["done"] })
 * store.room = 0
 * ```
 */
export const faultyStore = (): FullStore.FullStore => {
  const store = FullStore.make()
  checkWhenSet(store, "room", roomKind)
  checkWhenSet(store, "delay", duration)
  return store
}

/** A store with faults; see `faultyStore`. */
export type FaultyStore = FullStore.FullStore

/**
 * The response breaks off, as when the connection to the provider is lost. The turn requests it again, and the next entry
 * of the script responds; after some attempts the turn fails.
 */
export const disconnects: ScriptedPart = fails("the connection was lost", { retryable: true })
