/**
 * What a turn does after the provider has refused an image of its request. The same request would fail for ever, so the
 * images are left out of the history (`RefusedImages.ts`). A turn whose own input had them fails, and its user can give
 * others; a turn in which the model has answered already, as one whose tool returned them, goes on without them.
 */
import type { RefusedImages } from "@colloquy/protocol/EventMsg"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { unansweredFrom } from "../log/Compacted.ts"
import { imagesOf, refusedIn } from "../log/RefusedImages.ts"
import { ModelError } from "../ModelClient.ts"
import type { Step, TurnPort } from "./TurnPort.ts"

/** The failure of a turn whose input contained the images. */
export class ImagesRefused extends Data.TaggedError("ImagesRefused")<{
  /** Names the images and contains the cause. */
  readonly message: string
  readonly refusedImages: RefusedImages
}> {}

/** Most images that a message names. */
const maxNames = 5

const named = (names: ReadonlyArray<string>): string => {
  const more = names.length - maxNames
  const list = names.slice(0, maxNames).join("; ") + (more > 0 ? `; and ${more} more` : "")
  return names.length === 1 ? `an image (${list})` : `one of ${names.length} images (${list})`
}

/**
 * Resolves with true when the request is to be sent again without the images, and with false when the error is another
 * one. Fails when the turn has to end.
 */
export const withoutRefused = Effect.fnUntraced(function* (
  error: ModelError,
  port: Pick<TurnPort, "emit" | "imageNames">,
  { history }: Step,
  hasAnswered: boolean,
): Effect.fn.Return<boolean, ModelError | ImagesRefused> {
  if (error.reason !== "Image") return false
  const unanswered = unansweredFrom(history)
  const refusedImages = refusedIn(history, unanswered)
  const { count, skip } = refusedImages
  if (count === 0) return false
  const names = yield* port.imageNames(imagesOf(history).slice(skip, skip + count))
  const refusal = `the model provider refused ${named(names)}`
  const isOfInput = imagesOf(history.slice(unanswered)).length > 0
  if (!hasAnswered && isOfInput) {
    const message = `${refusal}; later requests leave ${count === 1 ? "it" : "them"} out: ${error.message}`
    return yield* new ImagesRefused({ message, refusedImages })
  }
  const message = `stream error: ${refusal}: ${error.message}; sending the request again without…`
  yield* port.emit([{ type: "stream_error", message, refused_images: refusedImages }])
  return true
})
