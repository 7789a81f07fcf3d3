/** What tools of clients return, in the words of this dialect and of the core. Pure. */
import type { ToolOutputPart } from "@colloquy/protocol/ResponseItem"
import type { ToolContent } from "@colloquy/protocol/thread/Items"

/** What a client has returned, as the core says it. */
export const partOf = (content: ToolContent): ToolOutputPart =>
  content.type === "inputText"
    ? { type: "input_text", text: content.text }
    : { type: "input_image", image_url: content.imageUrl }

/** What a tool has returned, as this dialect says it. */
export const contentOf = (part: ToolOutputPart): ToolContent =>
  part.type === "input_text"
    ? { type: "inputText", text: part.text }
    : { type: "inputImage", imageUrl: part.image_url }
