/**
 * What clients are told when another process of the same state directory has the conversation: the process, its host, and
 * its address where it publishes one. The same in every dialect. Pure.
 */
import { holderOf } from "@colloquy/core/ConversationErrors"
import type { LeaseHolder } from "@colloquy/core/StoreErrors"

/** `data` of a JSON-RPC error. */
export interface InUse {
  readonly reason: "in_use"
  readonly owner: LeaseHolder
}

/** Undefined for a call that failed for another reason. */
export const inUse = (error: Parameters<typeof holderOf>[0]): InUse | undefined => {
  const owner = holderOf(error)
  return owner === undefined ? undefined : { reason: "in_use", owner }
}

/** The member `_meta` with which a tool result names the process; empty for any other failure. */
export const inUseMeta = (
  error: Parameters<typeof holderOf>[0],
): { readonly _meta?: Readonly<Record<string, unknown>> } => {
  const owner = holderOf(error)
  return owner === undefined ? {} : { _meta: { "colloquy/owner": owner } }
}
