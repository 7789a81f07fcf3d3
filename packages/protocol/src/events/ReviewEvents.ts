/** Events of a review: a turn in which the model examines changes and reports what it found. */
import * as Schema from "effect/Schema"
import { event, original } from "../EventDefinition.ts"

/** What a review has found. The lines count from 1, and the last one belongs to the range. */
export const ReviewOutput = Schema.Struct({
  findings: Schema.Array(
    Schema.Struct({
      title: Schema.String,
      body: Schema.String,
      confidence_score: Schema.Finite,
      priority: Schema.Int,
      code_location: Schema.Struct({
        absolute_file_path: Schema.String,
        line_range: Schema.Struct({ start: Schema.Int, end: Schema.Int }),
      }),
    }),
  ),
  overall_correctness: Schema.String,
  overall_explanation: Schema.String,
  overall_confidence_score: Schema.Finite,
})
/** What a review has found. */
export type ReviewOutput = typeof ReviewOutput.Type

/** The event `entered_review_mode`; its `doc` describes it. */
export const EnteredReviewMode = event(
  "entered_review_mode",
  {
    /** What the model is asked. */
    prompt: Schema.String,
    /** What is reviewed, for a person. */
    user_facing_hint: Schema.String,
  },
  { ...original, doc: "The turn is a review; it accepts no further input.", inRollout: true },
)
/** The turn is a review; it accepts no further input. */
export type EnteredReviewMode = typeof EnteredReviewMode.Type

/** The event `exited_review_mode`; its `doc` describes it. */
export const ExitedReviewMode = event(
  "exited_review_mode",
  { review_output: Schema.NullOr(ReviewOutput) },
  {
    ...original,
    doc: "The review has ended, with what it found: null if the turn ended before. Follows every `entered_review_mode`, before the terminal event of the turn. An answer that is a plain text is `overall_explanation`.",
    inRollout: true,
  },
)
/**
 * The review has ended, with what it found: null if the turn ended before. Follows every `entered_review_mode`, before the
 * terminal event of the turn. An answer that is a plain text is `overall_explanation`.
 */
export type ExitedReviewMode = typeof ExitedReviewMode.Type
