/** Status, headers and error bodies of a provider. An input consists of a status line, headers, an empty line and the body. */
import * as Effect from "effect/Effect"
import { encode } from "../Bytes.ts"
import { type Edge, Violation } from "../Edge.ts"
import { outcomeOf, type Reply } from "./ProviderStreams.ts"
import { mutateJoined, textOf } from "./Pure.ts"

/** The platform refuses other characters before a client sees them. */
const headerName = /^[a-z0-9-]+$/
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/

const replyOf = (input: Uint8Array): Reply => {
  const [head = "", ...body] = textOf(input).split("\n\n")
  const [line = "", ...lines] = head.split("\n")
  const status = Number.parseInt(line, 10)
  const headers: Record<string, string> = {}
  for (const one of lines) {
    const [name = "", ...value] = one.split(":")
    const text = value.join(":").trim()
    if (headerName.test(name) && headerValue.test(text)) headers[name] = text
  }
  return {
    // Responses without a body and redirects, which clients follow, contain nothing to decode.
    status: status >= 400 && status <= 599 ? status : 200,
    headers,
    pieces: [encode(body.join("\n\n"))],
  }
}

/** Most characters of an error message that are not quoted from the provider. */
const ownChars = 256
const maxQuotedChars = 2048

const run = (input: Uint8Array) =>
  Effect.gen(function* () {
    const reply = replyOf(input)
    const { error, events } = yield* outcomeOf("responses", reply)
    const violation = (message: string) => new Violation({ law: "L13", message })
    if (error === undefined) {
      const last = events.at(-1)
      if (last?._tag !== "Completed") return yield* violation("ends without completion")
      JSON.stringify(last.rateLimits)
      return "accepted"
    }
    if (reply.status !== 200) {
      if (error.status !== reply.status) return yield* violation("names another status")
      if (error.message.length > ownChars + maxQuotedChars) {
        return yield* violation("quotes more than 2,048 characters of a body")
      }
    }
    const delay = error.retryAfterMs ?? 0
    return Number.isFinite(delay) && delay >= 0
      ? "rejected"
      : yield* violation("names a delay that is not a time")
  })

const completed = 'data: {"type":"response.completed","response":{}}'

const corpus = [
  `429\nretry-after: 5\n\n{"error":{"type":"usage_limit_reached","message":"no"}}`,
  `429\nretry-after: Wed, 21 Oct 2026 07:28:00 GMT\n\nslow down`,
  `400\n\n{"error":{"message":"This model's maximum context length is 8 tokens"}}`,
  `401\n\nunauthorized`,
  `500\nretry-after: 0.5\n\n{"error":{"code":"insufficient_quota"}}`,
  `503\nretry-after: 99999999999\n\n${"x".repeat(3000)}`,
  [
    "200",
    "x-codex-primary-used-percent: 12.5",
    "x-codex-primary-window-minutes: 300",
    "x-codex-secondary-used-percent: 4",
    "x-codex-secondary-window-minutes: 10080",
    "x-codex-primary-over-secondary-limit-percent: 50",
    "",
    `${completed}\n`,
  ].join("\n"),
].map(encode)

/** Status, headers and error body of a provider's response. */
export const providerReplies: Edge = {
  name: "provider-replies",
  summary: "Status, headers and error body of a provider's response (models/HttpModel).",
  corpus,
  mutate: mutateJoined("\n", corpus),
  open: Effect.succeed({ run }),
}
