/** Reads what a review has found from the answer of the model, and writes it as a text for a person. Pure; never throws. */
import type { EventOf, ReviewOutput } from "@colloquy/protocol/EventMsg"
import { parseJson } from "@colloquy/protocol/Json"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** Priority of a finding to which the model gave none: the lowest one. */
const lowestPriority = 3

const maybe = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

/** As models write it: what is no part of a finding itself may be missing. */
const Written = Schema.Struct({
  findings: Schema.Array(
    Schema.Struct({
      title: Schema.String,
      body: Schema.String,
      confidence_score: maybe(Schema.Finite),
      priority: maybe(Schema.Int),
      code_location: Schema.Struct({
        absolute_file_path: Schema.String,
        line_range: Schema.Struct({ start: Schema.Int, end: Schema.Int }),
      }),
    }),
  ),
  overall_correctness: maybe(Schema.String),
  overall_explanation: maybe(Schema.String),
  overall_confidence_score: maybe(Schema.Finite),
})

const decode = Schema.decodeUnknownResult(Written)

const outputOf = (written: typeof Written.Type): ReviewOutput => ({
  findings: written.findings.map((finding) => ({
    ...finding,
    confidence_score: finding.confidence_score ?? 0,
    priority: finding.priority ?? lowestPriority,
  })),
  overall_correctness: written.overall_correctness ?? "",
  overall_explanation: written.overall_explanation ?? "",
  overall_confidence_score: written.overall_confidence_score ?? 0,
})

const read = (text: string): ReviewOutput | undefined => {
  const value = parseJson(text)
  if (Result.isFailure(value)) return undefined
  const written = decode(value.success)
  return Result.isSuccess(written) ? outputOf(written.success) : undefined
}

/**
 * What the answer says: its JSON, also inside other text or a code fence; an answer in any other form is the explanation of
 * a review without findings.
 */
export const findingsOf = (answer: string): ReviewOutput => {
  const [from, to] = [answer.indexOf("{"), answer.lastIndexOf("}")]
  const object = from === -1 || to < from ? undefined : read(answer.slice(from, to + 1))
  return (
    object ?? {
      findings: [],
      overall_correctness: "",
      overall_explanation: answer,
      overall_confidence_score: 0,
    }
  )
}

const findingText = ({
  body,
  code_location: { absolute_file_path: path, line_range: lines },
  title,
}: ReviewOutput["findings"][number]): string =>
  [`- ${title} — ${path}:${lines.start}-${lines.end}`, ...body.split("\n")].join("\n  ")

/** The findings as the text that a person and later turns read. Never empty. */
const textOf = ({ findings, overall_explanation: explanation }: ReviewOutput): string => {
  const heading = findings.length === 1 ? "Review comment:" : "Review comments:"
  const parts = [
    explanation.trim(),
    ...(findings.length === 0 ? [] : [heading, ...findings.map(findingText)]),
  ].filter((part) => part !== "")
  return parts.length === 0 ? "The review has no findings." : parts.join("\n\n")
}

/** How a review has ended, as a text. */
export const reviewText = ({ review_output }: EventOf<"exited_review_mode">): string =>
  review_output === null ? "The review did not finish." : textOf(review_output)
