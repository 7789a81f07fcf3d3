/**
 * The table of requests in flight in one direction of one connection, keyed by type and value of their ids:
 * `1` and `"1"` are two requests. Pure bookkeeping for both ends: no fiber, no timer, no I/O.
 *
 * Keeps its part of L1: an entry can be taken once, so only the code that takes it sends the response.
 */
import { type RequestId, requestIdKey } from "./JsonRpc.ts"

/** A table of requests by their ids. */
export class PendingRequests<A> {
  /** Undefined until the first request: an idle connection has none in either direction. */
  private entries: Map<string | number, A> | undefined

  /** False, and nothing changes, when the id is in use. */
  add(id: RequestId, value: A): boolean {
    const key = requestIdKey(id)
    this.entries ??= new Map()
    if (this.entries.has(key)) return false
    this.entries.set(key, value)
    return true
  }

  /** Removes the entry and gives its value; `undefined` for an id that is not in flight. */
  take(id: RequestId): A | undefined {
    const key = requestIdKey(id)
    const value = this.entries?.get(key)
    this.entries?.delete(key)
    return value
  }

  /** The value; `undefined` for an id that is not in flight. */
  get(id: RequestId): A | undefined {
    return this.entries?.get(requestIdKey(id))
  }

  /** Number of entries. */
  get size(): number {
    return this.entries?.size ?? 0
  }

  /** All values, oldest first. */
  values(): ReadonlyArray<A> {
    return [...(this.entries?.values() ?? [])]
  }

  /** Removes all entries and gives their values, oldest first. */
  drain(): ReadonlyArray<A> {
    const values = this.values()
    this.entries = undefined
    return values
  }
}

/** Creates an empty table. */
export const make = <A>(): PendingRequests<A> => new PendingRequests()
