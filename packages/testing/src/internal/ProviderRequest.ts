/** A request, as both scripted providers record it. */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { ProviderCall } from "../ProviderScript.ts"

/** A recorded request. */
export interface SeenRequest extends ProviderCall {
  readonly method: string
  readonly url: string
  /** Headers with names in lower case. */
  readonly headers: Readonly<Record<string, string>>
}

const Message = Schema.Struct({ role: Schema.String, content: Schema.Unknown })
const Body = Schema.Struct({
  input: Schema.optional(Schema.Array(Schema.Unknown)),
  messages: Schema.optional(Schema.Array(Schema.Unknown)),
})
const Part = Schema.Struct({ text: Schema.String })
const decodeBody = Schema.decodeUnknownOption(Body)
const decodeMessage = Schema.decodeUnknownOption(Message)
const decodePart = Schema.decodeUnknownOption(Part)
const decodeJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

const contentText = (content: unknown): string => {
  if (typeof content === "string") return content
  if (!Array.isArray(content)) return ""
  return content
    .map((part) => Option.match(decodePart(part), { onNone: () => "", onSome: (p) => p.text }))
    .join("")
}

const lastUserText = (body: unknown): string => {
  const { input, messages } = Option.getOrElse(decodeBody(body), (): typeof Body.Type => ({}))
  const last = (input ?? messages ?? [])
    .map((entry) => Option.getOrUndefined(decodeMessage(entry)))
    .findLast((message) => message?.role === "user")
  return contentText(last?.content)
}

/** Records a request: the path selects the wire, and a body that is no JSON is recorded as text. */
export const seenRequest = (
  index: number,
  request: {
    readonly method: string
    readonly url: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
  },
): SeenRequest => {
  const body = Option.getOrElse(decodeJson(request.body), (): unknown => request.body)
  return {
    index,
    wire: request.url.includes("/chat/completions") ? "chat" : "responses",
    body,
    lastUserText: lastUserText(body),
    method: request.method,
    url: request.url,
    headers: request.headers,
  }
}
