/**
 * The meaning of each event type of the Responses wire. Types without a reader are ignored, since
 * providers add new ones. An event whose members have unexpected types is skipped; if it may have
 * contained a part of the answer, the response fails when nothing else of it is an answer.
 */
import type { ModelError, ModelEvent } from "@colloquy/core/ModelClient"
import type { TokenUsage } from "@colloquy/protocol/ResponseItem"
import * as Result from "effect/Result"
import { reportedFailure } from "./failures/Failures.ts"
import { isObject, type JsonObject } from "./JsonObject.ts"
import { readFault } from "./failures/ProviderFault.ts"
import { isAnswerType, readItem } from "./ResponsesItem.ts"
import { readUsage, type UsageNames } from "./Usage.ts"
import { lost, oneLine, type Reading, skipped, used } from "./WireDecoder.ts"

type EventReading = Reading & {
  /** The response failed; reported when the stream ends, as in the original. */
  readonly failure?: ModelError
}

type Reader = (event: JsonObject, out: Array<ModelEvent>) => EventReading

const delta =
  (type: string, read: (text: string) => ModelEvent): Reader =>
  (event, out) => {
    const { delta: text } = event
    if (typeof text !== "string") {
      const problem = `${type}: expected a string at \`delta\``
      // Null means absent. The finished item repeats the text of any other event, so the answer
      // loses nothing.
      return text === undefined || text === null ? skipped(problem) : lost(problem)
    }
    out.push(read(text))
    return used
  }

const usageNames: UsageNames = {
  input: "input_tokens",
  output: "output_tokens",
  inputDetails: "input_tokens_details",
  outputDetails: "output_tokens_details",
  allowsNull: false,
}

const usage = (u: unknown): { readonly usage?: TokenUsage } => {
  const found = readUsage(u, usageNames)
  return found === undefined ? {} : { usage: found }
}

const responseOf = ({ response }: JsonObject): JsonObject => (isObject(response) ? response : {})

const searchId = ({ id }: JsonObject): string => (typeof id === "string" ? id : "")

/** The query that was searched for, or the page that was opened. */
const searchQuery = ({ action }: JsonObject): string => {
  if (!isObject(action)) return ""
  const { pattern, query, url } = action
  return [query, url, pattern].find((text) => typeof text === "string") ?? ""
}

const itemAdded: Reader = ({ item }, out) => {
  if (!isObject(item)) return skipped("response.output_item.added: expected an object at `item`")
  if (item["type"] === "web_search_call") {
    out.push({ _tag: "WebSearchBegin", callId: searchId(item) })
  }
  return used
}

const itemDone: Reader = ({ item }, out) => {
  const at = "response.output_item.done"
  if (!isObject(item) || typeof item["type"] !== "string") {
    return lost(`${at}: expected an object with a \`type\` at \`item\``)
  }
  const read = readItem(item)
  if (Result.isFailure(read)) {
    const problem = `${at}: ${oneLine(read.failure)}`
    return isAnswerType(item["type"]) ? lost(problem) : skipped(problem)
  }
  if (read.success === undefined) return used
  if (read.success.type === "web_search_call") {
    out.push({ _tag: "WebSearchEnd", callId: searchId(item), query: searchQuery(item) })
  }
  out.push({ _tag: "ItemDone", item: read.success })
  return used
}

const incomplete: Reader = (event) => {
  const { incomplete_details: details } = responseOf(event)
  const given = isObject(details) ? details["reason"] : undefined
  const reason = typeof given === "string" ? given : "no reason given"
  return {
    failure: reportedFailure({ codes: [reason], message: `incomplete response: ${reason}` }),
  }
}

const textDelta = (text: string): ModelEvent => ({ _tag: "TextDelta", delta: text })

const deltas: Readonly<Record<string, (text: string) => ModelEvent>> = {
  "response.output_text.delta": textDelta,
  // A refusal is the text that the model answers with; the finished item contains it as text too.
  "response.refusal.delta": textDelta,
  "response.reasoning_summary_text.delta": (text) => ({ _tag: "ReasoningDelta", delta: text }),
  "response.reasoning_text.delta": (text) => ({ _tag: "RawReasoningDelta", delta: text }),
}

/** True for the types whose events contain a piece of a text. */
export const isDelta = (type: unknown): boolean =>
  typeof type === "string" && Object.hasOwn(deltas, type)

const readers = new Map<string, Reader>([
  ...Object.entries(deltas).map(([type, read]) => [type, delta(type, read)] as const),
  [
    "response.reasoning_summary_part.added",
    (_, out) => {
      out.push({ _tag: "ReasoningSectionBreak" })
      return used
    },
  ],
  ["response.output_item.added", itemAdded],
  ["response.output_item.done", itemDone],
  [
    "response.completed",
    (event) => ({ completed: { _tag: "Completed", ...usage(responseOf(event)["usage"]) } }),
  ],
  [
    "response.failed",
    (event) => ({
      failure: reportedFailure(
        readFault(responseOf(event)["error"]),
        "response.failed event received",
      ),
    }),
  ],
  ["response.incomplete", incomplete],
  [
    "error",
    // Some providers put the members into the event itself, others into `error`.
    (event) => {
      const fault = isObject(event["error"]) ? event["error"] : { ...event, type: undefined }
      return { failure: reportedFailure(readFault(fault)) }
    },
  ],
])

/** Reads one event. Appends its model events to `out`. */
export const readEvent: Reader = (event, out) => {
  const { type } = event
  if (typeof type !== "string") return skipped("an event without a `type`")
  return readers.get(type)?.(event, out) ?? used
}
