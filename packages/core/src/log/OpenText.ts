/** The texts of a turn that are being received, for the folds of items (`Items.ts`) and of unfinished texts. Pure. */
import type { TextItem } from "./Item.ts"

/** A text that is being received. */
export interface OpenText {
  readonly item: TextItem
  /** True: complete, although not recorded yet; a further delta starts another item. */
  readonly isClosed: boolean
  /** True: its response is over without having recorded it; the next delta replaces the text. */
  readonly isReplaced: boolean
}

/**
 * The only text that is being received, with a piece of this type. Undefined where the piece starts another text or there are
 * several. Most pieces continue the only one, so this allocates little.
 */
export const continuedText = (
  texts: ReadonlyArray<OpenText>,
  turnId: string,
  type: TextItem["type"],
  delta: string,
): OpenText | undefined => {
  const only = texts.length === 1 ? texts[0] : undefined
  if (only === undefined) return undefined
  const { isClosed, isReplaced, item } = only
  return isClosed || isReplaced || item.turnId !== turnId || item.type !== type
    ? undefined
    : { item: { ...item, text: item.text + delta }, isClosed, isReplaced }
}
