/** User input in the form of this dialect: tagged by `type`, with all other members in `data`. */
import * as Schema from "effect/Schema"
import { ImageUrl } from "../text/ImageUrl.ts"
import { SystemText } from "../text/SystemText.ts"
import type { InputItem as CoreItem } from "../ResponseItem.ts"

const item = <const T extends string, F extends Schema.Struct.Fields>(type: T, data: F) =>
  Schema.Struct({ type: Schema.Literal(type), data: Schema.Struct(data) })

/** A text, an image by URL, or a local image file. */
export const InputItem = Schema.Union([
  item("text", { text: Schema.String }),
  /** A data URL or an http(s) URL; the member keeps its underscore. */
  item("image", { image_url: ImageUrl }),
  item("localImage", { path: SystemText }),
])
/** A decoded `InputItem`. */
export type InputItem = typeof InputItem.Type

/** The same input in the form of the core. */
export const coreItem = (one: InputItem): CoreItem => {
  switch (one.type) {
    case "text":
      return { type: "text", ...one.data }
    case "image":
      return { type: "image", ...one.data }
    case "localImage":
      return { type: "local_image", ...one.data }
  }
}
