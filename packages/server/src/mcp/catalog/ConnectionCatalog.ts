/** What the handlers of tools, resources and prompts of one connection share. Holds no state. */
import type * as Effect from "effect/Effect"
import type { Catalog } from "../../features/Catalog.ts"
import { entriesFrom, type Registry } from "../../features/Registry.ts"
import type { Cursors } from "./Cursors.ts"

/** The features that one connection serves, and how it pages them. */
export interface ConnectionCatalog {
  readonly catalog: Catalog
  readonly cursors: Cursors
  /** Items per page of every list. */
  readonly pageSize: number
  /** Reads changed prompt files again; runs before every request for prompts. Never fails. */
  readonly refreshPrompts: Effect.Effect<void>
}

/** One page of a list. */
export interface Page<A> {
  readonly items: ReadonlyArray<A>
  /** Number of the first value of the next page; absent on the last page. */
  readonly next?: number
}

/** The values of the registry from that number on, at most `limit`. */
export const pageOf = <A>(registry: Registry<A>, start: number, limit: number): Page<A> => {
  const items: Array<A> = []
  for (const { number, value } of entriesFrom(registry, start)) {
    if (items.length === limit) return { items, next: number }
    items.push(value)
  }
  return { items }
}

/** The named members of a definition as a list entry has them, without the absent ones; `meta` becomes `_meta`. */
export const describe = <A extends object, K extends keyof A>(
  of: A & { readonly meta?: unknown },
  names: ReadonlyArray<K>,
): { readonly [P in keyof Pick<A, K>]: Exclude<A[P], undefined> } & {
  readonly _meta?: Readonly<Record<string, unknown>>
} => {
  const item: Record<string, unknown> = {}
  for (const name of names) {
    if (of[name] !== undefined) item[String(name)] = of[name]
  }
  if (of.meta !== undefined) item["_meta"] = of.meta
  return item as ReturnType<typeof describe<A, K>>
}
