/**
 * The output of a call of a server's tool, for the model and for the events. Pure.
 *
 * Owns texts and their limits; never fails because of what a server answered (L13).
 */
import { parseJson } from "@colloquy/protocol/Json"
import * as Result from "effect/Result"
import { cutText, isWithinDepth, maxDepth, maxOutputBytes } from "../ResultLimits.ts"
import type { JsonSchema } from "./SchemaSanitizer.ts"

/** A result as it is on the wire. */
export type CallResult = Readonly<Record<string, unknown>>

/** Output of a call without a result, quoted as the original prints errors. */
export const failedOutput = (message: string): string =>
  `err: ${JSON.stringify(`tool call error: ${message}`)}`

/** Output for invalid arguments, with which no call is made. */
export const badArguments = (message: string): string => `err: ${message}`

/** The arguments of a call, or what is wrong with them. */
export type Arguments =
  | { readonly _tag: "Arguments"; readonly value: Readonly<Record<string, unknown>> | undefined }
  | { readonly _tag: "Bad"; readonly message: string }

/** Reads the arguments that the model wrote; an empty text means none (`arguments: null` in the events). */
export const parseArguments = (text: string): Arguments => {
  if (text.trim() === "") return { _tag: "Arguments", value: undefined }
  const json = parseJson(text, maxDepth)
  const bad = (reason: string): Arguments => ({
    _tag: "Bad",
    message: `failed to parse function arguments: ${reason}`,
  })
  if (Result.isFailure(json)) return bad(json.failure.detail)
  const value = json.success
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? { _tag: "Arguments", value: value as JsonSchema }
    : bad("expected a JSON object")
}

/** What became of a call. */
export type Outcome =
  | { readonly _tag: "Result"; readonly output: string; readonly result: CallResult }
  | { readonly _tag: "Failure"; readonly message: string }

/**
 * The text for the model: `structuredContent` as JSON if there is any, otherwise the array of contents. In the events,
 * a result larger than the limit is replaced by the text that the model gets.
 */
export const outcome = (result: CallResult, maxBytes: number = maxOutputBytes): Outcome => {
  if (!isWithinDepth(result, maxDepth)) {
    return { _tag: "Failure", message: `the result is nested deeper than ${maxDepth} levels` }
  }
  const text = JSON.stringify(result["structuredContent"] ?? result["content"] ?? [])
  const output = cutText(text, maxBytes)
  const whole = output === text && JSON.stringify(result).length <= 2 * maxBytes
  const isError = result["isError"] === true ? { isError: true } : {}
  return {
    _tag: "Result",
    output,
    result: whole ? result : { content: [{ type: "text", text: output }], ...isError },
  }
}
