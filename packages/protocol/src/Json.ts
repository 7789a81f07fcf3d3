/**
 * Parses JSON texts from outside: files, providers, tool servers and models. Never throws (L13). A text that nests too deep
 * is rejected before it becomes a value, because code that later writes, compares or measures a value recurses.
 */
import * as Result from "effect/Result"

/** Levels of nesting. Real texts have a few; `JSON.stringify` overflows its stack far above this limit. */
export const maxJsonDepth = 256

const quote = 0x22
const backslash = 0x5c

/** Index of the quote that ends the string starting at `start`; the length of the text if none does. */
const endOfString = (text: string, start: number): number => {
  for (let at = start; ;) {
    at = text.indexOf('"', at + 1)
    if (at === -1) return text.length
    let escapes = 0
    while (text.charCodeAt(at - 1 - escapes) === backslash) escapes++
    if (escapes % 2 === 0) return at
  }
}

/** True when a text opens more than `max` arrays and objects that are not closed yet. Reads the text once. */
export const isNestedDeeper = (text: string, max: number): boolean => {
  // A level takes at least two characters.
  if (text.length <= 2 * max) return false
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) at = endOfString(text, at)
    // `[` and `{`, `]` and `}` differ in one bit.
    else if ((code | 0x20) === 0x7b) {
      if (++depth > max) return true
    } else if ((code | 0x20) === 0x7d) depth--
  }
  return false
}

/** Why a text could not be parsed. */
export interface JsonFault {
  readonly reason: "syntax" | "depth"
  /** Does not quote the text. */
  readonly message: string
  /** The parser's own message, which quotes the text around the fault. */
  readonly detail: string
}

/** Parses a text. Never throws. */
export const parseJson = (
  text: string,
  maxDepth: number = maxJsonDepth,
): Result.Result<unknown, JsonFault> => {
  if (isNestedDeeper(text, maxDepth)) {
    const message = `nested deeper than ${maxDepth} levels`
    return Result.fail({ reason: "depth", message, detail: message })
  }
  try {
    return Result.succeed(JSON.parse(text))
  } catch (error) {
    const message = "not JSON"
    return Result.fail({
      reason: "syntax",
      message,
      detail: error instanceof Error ? error.message : message,
    })
  }
}
