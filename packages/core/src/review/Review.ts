/** The end of a review: what the model has answered becomes the findings, and a message with their text. */
import type { EventOf } from "@colloquy/protocol/EventMsg"
import * as Effect from "effect/Effect"
import { messageEvents } from "../log/MessageEvents.ts"
import type { TurnPort } from "../turn/TurnPort.ts"
import { findingsOf, reviewText } from "./ReviewFindings.ts"

/**
 * Records the findings of the answer. Resolves with their text; null when the model has sent no message. The history gets
 * the text instead of the answer, for the turns that follow.
 */
export const endReview = (
  port: Pick<TurnPort, "emit">,
  answer: string | null,
): Effect.Effect<string | null> => {
  const exited: EventOf<"exited_review_mode"> = {
    type: "exited_review_mode",
    review_output: answer === null ? null : findingsOf(answer),
  }
  if (answer === null) return Effect.as(port.emit([exited]), null)
  const text = reviewText(exited)
  const content = [{ type: "output_text", text }] as const
  return Effect.as(
    port.emit([exited, ...messageEvents({ type: "message", role: "assistant", content })]),
    text,
  )
}
