/** What a person says, in the form of this dialect: tagged by `type`, the rest in `data` (§3.7). */
import * as Schema from "effect/Schema"
import type { InputItem as CoreItem } from "../ResponseItem.ts"

const item = <const T extends string, F extends Schema.Struct.Fields>(type: T, data: F) =>
  Schema.Struct({ type: Schema.Literal(type), data: Schema.Struct(data) })

export const InputItem = Schema.Union([
  item("text", { text: Schema.String }),
  /** A data URL or an http(s) URL; the member keeps its underscore. */
  item("image", { image_url: Schema.String }),
  item("localImage", { path: Schema.String }),
])
export type InputItem = typeof InputItem.Type

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
