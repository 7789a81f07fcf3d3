/**
 * Images that the provider refused: which of a history they are, and the history without them. `error` and `stream_error`
 * record them, and `History` folds these events, so that every load of a log gives the same history. Pure.
 */
import type { RefusedImages } from "@colloquy/protocol/EventMsg"
import type { ContentItem, ResponseItem } from "@colloquy/protocol/ResponseItem"

type Items = ReadonlyArray<ResponseItem>

/** What the model gets in the place of an image that the provider refused. */
export const refusedImage: ContentItem = {
  type: "input_text",
  text: "[image left out: the model provider refused it]",
}

/** The addresses of the images of a history, in their order. */
export const imagesOf = (items: Items): ReadonlyArray<string> =>
  items.flatMap((item) =>
    item.type === "message"
      ? item.content.flatMap((part) => (part.type === "input_image" ? [part.image_url] : []))
      : [],
  )

/**
 * The images of a refused request that later ones leave out: those since the last answer, which no provider has accepted
 * yet; where there are none, as after a change of the model, all of them.
 *
 * @param unanswered index of the first item after the last answer
 */
export const refusedIn = (items: Items, unanswered: number): RefusedImages => {
  const accepted = imagesOf(items.slice(0, unanswered)).length
  const all = imagesOf(items).length
  return all > accepted ? { skip: accepted, count: all - accepted } : { skip: 0, count: all }
}

/** The history with a text in the place of each of these images. Items without one of them stay the same objects. */
export const withoutImages = (items: Items, { count, skip }: RefusedImages): Items => {
  let place = 0
  const isRefused = (part: ContentItem): boolean => {
    if (part.type !== "input_image") return false
    const at = place++
    return at >= skip && at < skip + count
  }
  return items.map((item) => {
    if (item.type !== "message") return item
    const refused = item.content.map(isRefused)
    if (!refused.includes(true)) return item
    const content = item.content.map((part, i) => (refused[i] === true ? refusedImage : part))
    return { ...item, content }
  })
}
