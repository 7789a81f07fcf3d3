/** What the handlers of tools, resources and prompts of one connection share. */
import type * as Effect from "effect/Effect"
import type { Catalog } from "../../features/Catalog.ts"
import { entriesFrom, type Registry } from "../../features/Registry.ts"
import type { Cursors } from "./Cursors.ts"

export interface ConnectionCatalog {
  readonly catalog: Catalog
  readonly cursors: Cursors
  /** Of every list. */
  readonly pageSize: number
  /** Reads again what may have changed behind our back, before prompts are looked at. */
  readonly refreshPrompts: Effect.Effect<void>
}

export interface Page<A> {
  readonly items: ReadonlyArray<A>
  /** Number of the first that did not fit. */
  readonly next?: number
}

/** What stands on a shelf from that number on. */
export const pageOf = <A>(shelf: Registry<A>, start: number, limit: number): Page<A> => {
  const items: Array<A> = []
  for (const { number, value } of entriesFrom(shelf, start)) {
    if (items.length === limit) return { items, next: number }
    items.push(value)
  }
  return { items }
}

/** The members of a definition that are told as they are; `meta` is told as `_meta`. */
export const describe = <A extends object, K extends keyof A>(
  of: A & { readonly meta?: unknown },
  names: ReadonlyArray<K>,
): Pick<A, K> & { readonly _meta?: Readonly<Record<string, unknown>> } => {
  const item: Record<string, unknown> = {}
  for (const name of names) {
    if (of[name] !== undefined) item[String(name)] = of[name]
  }
  if (of.meta !== undefined) item["_meta"] = of.meta
  return item as ReturnType<typeof describe<A, K>>
}
