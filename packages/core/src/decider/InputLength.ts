/** How much of the log a piece of user input takes, for the limits of `Decide.ts`. Pure. */
import type { InputItem } from "@colloquy/protocol/ResponseItem"

/** Most items of one submission: generous for a person, and an end for a faulty client. */
export const maxItems = 1024
/**
 * Longest text of one submission in UTF-16 code units, images as data URLs included: 64 Mi, as much as one line of a
 * client or of a stored conversation. The original program has no limit and accepts a prompt of 40 MB.
 */
export const maxTextLength = 64 * 1024 * 1024

/** Length of what is recorded of an item besides its text or image, in UTF-16 code units. */
const extraLength = (item: InputItem): number => {
  if (!("detail" in item || "elements" in item || "shown" in item)) return 0
  const { detail, elements, shown } = { detail: "", elements: [], shown: {}, ...item }
  return elements.length + Object.keys(shown).length === 0
    ? detail.length
    : detail.length + JSON.stringify([elements, shown]).length
}

/** Length of an item in the history, in UTF-16 code units. */
export const textLength = (item: InputItem): number => {
  const extra = extraLength(item)
  switch (item.type) {
    case "text":
      return item.text.length + extra
    case "image":
      return item.image_url.length + extra
    case "local_image":
      return item.path.length + extra
  }
}
