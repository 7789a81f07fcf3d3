/**
 * Reads the images that a submission names by path, before the submission enters the inbox: the model sees the contents of
 * the file at that time. Reads through `ToolRuntime` alone, and stops at the size limit of a submission, beyond which
 * `decide` refuses it anyway.
 */
import type { Op } from "@colloquy/protocol/Op"
import type { InputItem } from "@colloquy/protocol/ResponseItem"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { ConversationSettings } from "../ConversationSettings.ts"
import { maxItems, maxTextLength } from "../decider/InputLength.ts"
import { ToolRuntime } from "../ToolRuntime.ts"

type InputOp = Extract<Op, { readonly type: "user_input" | "user_turn" | "edit_queued" }>

const isLocal = ({ type }: InputItem): boolean => type === "local_image"

const hasLocal = (op: Op): op is InputOp =>
  (op.type === "user_input" || op.type === "user_turn" || op.type === "edit_queued") &&
  op.items.some(isLocal)

type Read = NonNullable<ToolRuntime["Service"]["readImage"]>

const itemsOf = Effect.fnUntraced(function* (
  items: ReadonlyArray<InputItem>,
  settings: ConversationSettings,
  read: Read,
) {
  const shown: Array<InputItem> = []
  let length = 0
  for (const item of items) {
    // Beyond the limit the submission is refused.
    if (item.type !== "local_image" || length > maxTextLength) {
      shown.push(item)
      continue
    }
    const image = yield* read(item.path, settings)
    if ("url" in image) {
      length += image.url.length
      shown.push({ type: "image", image_url: image.url, shown: item })
    } else {
      const text = `[image at ${item.path}: ${image.problem}]`
      shown.push({ type: "text", text, shown: item })
    }
  }
  return shown
})

/**
 * The op with each local image replaced by a data URL. An image that cannot be read is replaced by a text with the reason.
 * Never fails; any other op is returned unchanged.
 */
export const withLocalImages = (
  op: Op,
  journal: { readonly current: { readonly settings: ConversationSettings } },
  services: Context.Context<ToolRuntime>,
): Effect.Effect<Op> => {
  const { readImage } = Context.get(services, ToolRuntime)
  if (!hasLocal(op) || readImage === undefined || op.items.length > maxItems) {
    return Effect.succeed(op)
  }
  const { settings } = journal.current
  const cwd = op.type === "user_turn" ? op.cwd : settings.cwd
  return Effect.map(itemsOf(op.items, { ...settings, cwd }, readImage), (items) => ({
    ...op,
    items,
  }))
}
