/** What a terminal pastes, between two marks. Pure. */
import type { Key } from "./Editor.ts"

/** The text of one or more pasted characters: line feeds and tabs are kept, keys and other control characters left out. */
export const pastedText = (sequence: string): string => {
  if (sequence === "\r") return "\n"
  return /(?![\n\t])\p{Cc}/u.test(sequence) ? "" : sequence
}

/**
 * The keys, with the characters of a pasted text as one: inserting each by itself would take time with the square of their
 * number.
 *
 * @param isPasting true where the first mark has come with earlier keys
 */
export const joinPasted = (keys: ReadonlyArray<Key>, isPasting: boolean): ReadonlyArray<Key> => {
  const joined: Array<Key> = []
  let pieces: Array<string> | undefined = isPasting ? [] : undefined
  const flush = () => {
    if (pieces !== undefined && pieces.length > 0) joined.push({ sequence: pieces.join("") })
  }
  for (const key of keys) {
    const isMark = key.name === "paste-start" || key.name === "paste-end"
    if (!isMark && pieces !== undefined) pieces.push(pastedText(key.sequence))
    else {
      flush()
      if (isMark) pieces = key.name === "paste-start" ? [] : undefined
      joined.push(key)
    }
  }
  flush()
  return joined
}
