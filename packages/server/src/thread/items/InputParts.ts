/** What a user has sent, as this dialect shows it. Pure. */
import { defined } from "@colloquy/protocol/Defined"
import type { InputItem, InputPart } from "@colloquy/protocol/ResponseItem"
import type { UserInput } from "@colloquy/protocol/thread/Values"

/** A part of a message. `images` are the URLs of those of the message. */
export const inputOfPart = (part: InputPart, images: ReadonlyArray<string>): UserInput => {
  switch (part.type) {
    case "text":
      return {
        type: "text",
        text: part.text,
        text_elements: (part.elements ?? []).map(({ byte_range: byteRange, placeholder }) => ({
          byteRange,
          placeholder: placeholder ?? null,
        })),
      }
    case "image":
      return { type: "image", url: images[part.index] ?? "", detail: part.detail ?? null }
    case "local_image":
      return { type: "localImage", path: part.path, detail: part.detail ?? null }
    case "skill":
    case "mention":
      return { type: part.type, name: part.name, path: part.path }
  }
}

/** Input that was not given to the model yet. */
export const inputOfItem = (item: InputItem): UserInput => {
  if (item.type === "local_image") return inputOfPart(item, [])
  if (item.shown !== undefined) return inputOfPart(item.shown, [])
  if (item.type === "text") return inputOfPart(item, [])
  const { detail } = item
  return inputOfPart({ type: "image", index: 0, ...defined({ detail }) }, [item.image_url])
}
