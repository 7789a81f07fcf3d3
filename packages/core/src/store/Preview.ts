/** The preview of a conversation in a list: its first user message, shortened. Pure, and the same for every store. */
import type { EventMsg } from "@colloquy/protocol/EventMsg"

/** Longest preview, in UTF-16 code units. */
export const maxPreview = 1024

/** The preview of a conversation whose first user message is this event; undefined for any other event. */
export const previewOf = (msg: EventMsg): string | undefined => {
  if (msg.type !== "user_message" || (msg.kind ?? "plain") !== "plain") return undefined
  // Cut first, so that a long message is not folded as a whole.
  const text = msg.message
    .slice(0, 4 * maxPreview)
    .replaceAll(/\s+/g, " ")
    .trim()
    .slice(0, maxPreview)
  return text === "" ? undefined : text.toWellFormed()
}
