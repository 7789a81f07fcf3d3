/**
 * The table of requests in flight in one direction of one connection, keyed by type and value of their ids:
 * `1` and `"1"` are two requests. Pure bookkeeping for both ends: no fiber, no timer, no I/O.
 *
 * Keeps its part of L1: an entry can be taken once, so only the code that takes it sends the response.
 */
import { type RequestId, requestIdKey } from "./JsonRpc.ts"

/** A table of requests by their ids. */
export interface PendingRequests<A> {
  /** False, and nothing changes, when the id is in use. */
  readonly add: (id: RequestId, value: A) => boolean
  /** Removes the entry and gives its value; `undefined` for an id that is not in flight. */
  readonly take: (id: RequestId) => A | undefined
  readonly get: (id: RequestId) => A | undefined
  readonly size: number
  /** All values, oldest first. */
  readonly values: () => ReadonlyArray<A>
  /** Removes all entries and gives their values, oldest first. */
  readonly drain: () => ReadonlyArray<A>
}

/** Creates an empty table. */
export const make = <A>(): PendingRequests<A> => {
  const entries = new Map<string | number, A>()
  return {
    add: (id, value) => {
      const key = requestIdKey(id)
      if (entries.has(key)) return false
      entries.set(key, value)
      return true
    },
    take: (id) => {
      const key = requestIdKey(id)
      const value = entries.get(key)
      entries.delete(key)
      return value
    },
    get: (id) => entries.get(requestIdKey(id)),
    get size() {
      return entries.size
    },
    values: () => [...entries.values()],
    drain: () => {
      const values = [...entries.values()]
      entries.clear()
      return values
    },
  }
}
