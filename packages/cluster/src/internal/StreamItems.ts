/** The stream of a listener on another node: its deliveries in items of bounded length. */
import type { Delivery } from "@colloquy/core/listeners/Delivery"
import type { Listener } from "@colloquy/core/listeners/Listener"
import { defined } from "@colloquy/protocol/Defined"
import type { ConversationId } from "@colloquy/protocol/Ids"
import type * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Pull from "effect/Pull"
import * as Stream from "effect/Stream"
import type { StreamItem } from "../ConversationOperations.ts"
import type { Elsewhere } from "../NodeErrors.ts"
import { elsewhereOf } from "./Moving.ts"

/**
 * Text of an item, in UTF-16 code units, beyond which further deliveries follow in the next one. An item is encoded for each
 * listener by itself, where the events that wait are shared by all of them: one that reads nothing costs two items.
 */
export const maxItemText = 64 * 1024

/** Length of all texts in a value, or a number that exceeds `most`. */
const textLength = (value: unknown, most: number): number => {
  if (typeof value === "string") return value.length
  if (typeof value !== "object" || value === null) return 0
  let length = 0
  for (const member of Object.values(value)) {
    length += textLength(member, most - length)
    if (length > most) break
  }
  return length
}

/** The index behind the last value of an item that begins with the value at `from`. */
const endOfItem = (values: ReadonlyArray<unknown>, from: number): number => {
  let left = maxItemText
  let end = from
  do {
    left -= textLength(values[end], left)
    end++
  } while (left > 0 && end < values.length)
  return end
}

/** The values in items of bounded length. */
function* inItems<A>(values: ReadonlyArray<A>): Generator<ReadonlyArray<A>> {
  let from = 0
  while (from < values.length) {
    const end = endOfItem(values, from)
    yield values.slice(from, end)
    from = end
  }
}

/** Likewise as a stream, which sends one item at a time. */
export const itemStream = <A>(values: ReadonlyArray<A>): Stream.Stream<ReadonlyArray<A>> =>
  Stream.fromIterable(inItems(values), { chunkSize: 1 })

class Items {
  private readonly id: ConversationId
  private readonly from: number
  private readonly listener: Listener
  /** Deliveries that were taken, of which those from `at` on have not been sent. */
  private taken: ReadonlyArray<Delivery> = []
  private at = 0
  private isAttached = false
  private isOver = false

  constructor(id: ConversationId, from: number, listener: Listener) {
    this.id = id
    this.from = from
    this.listener = listener
  }

  readonly next = Effect.suspend(
    (): Pull.Pull<Arr.NonEmptyReadonlyArray<StreamItem>, Elsewhere> => {
      if (this.at < this.taken.length) return Effect.succeed([this.nextItem()] as const)
      if (this.isOver) return Cause.done()
      return Effect.matchEffect(this.listener.take, {
        onSuccess: (deliveries) => {
          this.taken = deliveries
          this.at = 0
          return Effect.succeed([this.nextItem()] as const)
        },
        onFailure: (end) => {
          const elsewhere = elsewhereOf(this.id, end)
          if (elsewhere !== undefined) return Effect.fail(elsewhere)
          this.isOver = true
          const because = end._tag === "Done" ? undefined : end
          const last: StreamItem = { _tag: "Ended", ...defined({ because }) }
          return Effect.succeed(
            this.isAttached ? ([last] as const) : ([this.itemOf([]), last] as const),
          )
        },
      })
    },
  )

  private nextItem(): StreamItem {
    const { at, taken } = this
    const end = endOfItem(taken, at)
    this.at = end
    return this.itemOf(at === 0 && end >= taken.length ? taken : taken.slice(at, end))
  }

  private itemOf(deliveries: ReadonlyArray<Delivery>): StreamItem {
    if (this.isAttached) return { _tag: "Deliveries", deliveries }
    this.isAttached = true
    return { _tag: "Attached", from: this.from, deliveries }
  }
}

/** The deliveries of a listener, which is attached from this event on. The stream is cut where the conversation moves. */
export const itemsOf = (
  id: ConversationId,
  from: number,
  listener: Listener,
): Stream.Stream<StreamItem, Elsewhere> =>
  Stream.fromPull(Effect.sync(() => new Items(id, from, listener).next))
