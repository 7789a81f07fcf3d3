/**
 * What a conversation has delivered to a chat and the chat has not handled yet, oldest first. Given out in bounded pieces, so
 * that keys are handled between two of them however much comes at once. Pure but for its own state.
 */
import type { Delivered } from "./Deliver.ts"

/** Most deliveries of a piece: handled within a few milliseconds. */
const maxDeliveries = 128

/** The input in pieces. Whoever delivered it is notified after the last one. */
const piecesOf = (input: Delivered): ReadonlyArray<Delivered> => {
  if (input._tag === "Ended") return [input]
  const { deliveries } = input
  const count = Math.max(1, Math.ceil(deliveries.length / maxDeliveries))
  return Array.from({ length: count }, (_, n) => ({
    ...input,
    deliveries: deliveries.slice(n * maxDeliveries, (n + 1) * maxDeliveries),
    handled: n === count - 1 ? input.handled : () => {},
  }))
}

/** See the header. */
export class Backlog {
  private pieces: Array<Delivered> = []

  get isEmpty(): boolean {
    return this.pieces.length === 0
  }

  add(input: Delivered): void {
    this.pieces.push(...piecesOf(input))
  }

  /** Removes the oldest piece and gives it; undefined where there is none. */
  next(): Delivered | undefined {
    return this.pieces.shift()
  }
}
