/** Converts user input to an item of the history and the `user_message` event. Pure. */
import type { EventOf } from "@colloquy/protocol/EventMsg"
import { defined } from "@colloquy/protocol/Defined"
import type {
  ContentItem,
  InputItem,
  InputPart,
  MessageItem,
} from "@colloquy/protocol/ResponseItem"

const content = (item: InputItem): ContentItem => {
  switch (item.type) {
    case "text":
      return { type: "input_text", text: item.text }
    case "image":
      return { type: "input_image", image_url: item.image_url }
    case "local_image":
      // The file could not be read (`LocalImages.ts`): the model gets its path.
      return { type: "input_text", text: `[image at ${item.path}]` }
  }
}

/** The input as clients show it; undefined when the text and the images alone say as much. */
const partsOf = (items: ReadonlyArray<InputItem>): ReadonlyArray<InputPart> | undefined => {
  let index = 0
  let isPlain = true
  let hasText = false
  const parts = items.map((item): InputPart => {
    const at = item.type === "image" ? index++ : 0
    if (item.type === "local_image") {
      isPlain = false
      return item
    }
    if (item.shown !== undefined) {
      isPlain = false
      return item.shown
    }
    if (item.type === "image") {
      const { detail } = item
      isPlain &&= detail === undefined
      return { type: "image", index: at, ...defined({ detail }) }
    }
    const { elements, text } = item
    // One text before the images is what the other members of the event say.
    isPlain &&= elements === undefined && !hasText && index === 0 && text !== ""
    hasText = true
    return { type: "text", text, ...defined({ elements }) }
  })
  return isPlain ? undefined : parts
}

/** The item for the model and the event for listeners. */
export const inputMessage = (
  items: ReadonlyArray<InputItem>,
): { readonly item: MessageItem; readonly userMessage: EventOf<"user_message"> } => {
  const images = items.flatMap((item) => (item.type === "image" ? [item.image_url] : []))
  return {
    item: { type: "message", role: "user", content: items.map(content) },
    userMessage: {
      type: "user_message",
      message: items.flatMap((item) => (item.type === "text" ? [item.text] : [])).join("\n"),
      kind: "plain",
      ...(images.length === 0 ? {} : { images }),
      ...defined({ parts: partsOf(items) }),
    },
  }
}
