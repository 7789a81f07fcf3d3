/** The open items of a turn, for a client that has not got their beginning. Pure. */
import type { ThreadItem } from "@colloquy/protocol/thread/Items"
import * as CoreItems from "./CoreItems.ts"
import { type ItemOutput, type ProjectionState, started, timesOf } from "./ProjectionState.ts"
import { reasoningBegins, reasoningSoFar } from "./ReasoningItems.ts"

/** An item that has no end yet, with what is known of it, and its turn. */
export interface OpenItem {
  readonly turnId: string
  readonly item: ThreadItem
}

/** The open items with what is known of them: calls in the order of their start, then the texts that followed. */
export const openItems = ({
  calls,
  messages,
  reasoning,
}: ProjectionState): ReadonlyArray<OpenItem> => [
  ...calls.map(({ item, turnId }) => ({ item, turnId })),
  ...reasoning.flatMap((open) =>
    open.isShown ? [{ item: reasoningSoFar(open), turnId: open.turnId }] : [],
  ),
  ...messages.map((open) => ({
    item: CoreItems.agentMessage(timesOf(open, null), open.sent),
    turnId: open.turnId,
  })),
]

/** The beginnings of the open items, in the same order; those of texts with all of their text so far in deltas. */
export const begunItems = ({
  calls,
  messages,
  reasoning,
}: ProjectionState): ReadonlyArray<ItemOutput> => [
  ...calls.map((call) => started(call, call.item)),
  ...reasoning.flatMap((open) => (open.isShown ? reasoningBegins(open) : [])),
  ...messages.flatMap((open): ReadonlyArray<ItemOutput> => {
    const { id: itemId, sent: delta, turnId } = open
    return [
      started(open, CoreItems.agentMessage(timesOf(open, null), "")),
      ...(delta === "" ? [] : [{ _tag: "MessageDelta" as const, turnId, itemId, delta }]),
    ]
  }),
]
