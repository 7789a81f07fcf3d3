/** What a list tells of what was said first. Pure: the same for every store. */
import type { EventMsg } from "@colloquy/protocol/EventMsg"

/** Of a preview, in UTF-16 code units. */
export const maxPreview = 1024

/** The preview that this event gives a conversation that has none; undefined: it gives none. */
export const previewOf = (msg: EventMsg): string | undefined => {
  if (msg.type !== "user_message" || (msg.kind ?? "plain") !== "plain") return undefined
  // Cut first: what is folded away afterwards is at most some more white space.
  const text = msg.message
    .slice(0, 4 * maxPreview)
    .replaceAll(/\s+/g, " ")
    .trim()
    .slice(0, maxPreview)
  return text === "" ? undefined : text.toWellFormed()
}
