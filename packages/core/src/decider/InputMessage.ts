/** Converts user input to an item of the history and the `user_message` event. Pure. */
import type { EventOf } from "@colloquy/protocol/EventMsg"
import type { ContentItem, InputItem, MessageItem } from "@colloquy/protocol/ResponseItem"

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
    },
  }
}
