/** Turns what a user sent into the item for the model's history and the `user_message` event (§6.2, §6.5). */
import type { EventOf } from "@colloquy/protocol/EventMsg"
import type { ContentItem, InputItem, MessageItem } from "@colloquy/protocol/ResponseItem"

const content = (item: InputItem): ContentItem => {
  switch (item.type) {
    case "text":
      return { type: "input_text", text: item.text }
    case "image":
      return { type: "input_image", image_url: item.image_url }
    case "local_image":
      // Nobody could read it (`LocalImages.ts`): the model is told of the path it can ask for.
      return { type: "input_text", text: `[image at ${item.path}]` }
  }
}

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
