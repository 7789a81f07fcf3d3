/** The state of a conversation without its settings as text, by which one node gives it to another. Pure. */
import { fromPlain, type PlainReceipts, toPlain } from "@colloquy/core/decider/Receipts"
import type { State } from "@colloquy/core/decider/State"

/** Plain data: the nodes of a cluster have the same version of it. */
interface PlainState extends Omit<State, "settings" | "receipts"> {
  readonly receipts: PlainReceipts
}

/** The text, as JSON. */
export const textOf = ({ receipts, settings: _, ...others }: State): string => {
  const plain: PlainState = { ...others, receipts: toPlain(receipts) }
  return JSON.stringify(plain)
}

/** The state with this text, which `textOf` gave, and these settings. */
export const stateOf = (text: string, settings: State["settings"]): State => {
  const { receipts, ...others } = JSON.parse(text) as PlainState
  return { ...others, receipts: fromPlain(receipts), settings }
}
