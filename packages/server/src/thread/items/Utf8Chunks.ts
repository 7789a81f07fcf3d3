/** Texts from chunks of bytes whose borders may lie inside a character. Pure. */
import * as Encoding from "effect/encoding/Base64"
import * as Result from "effect/Result"

const none = new Uint8Array()

/** A byte order mark is a character like others: it is part of the whole text as well. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

/** Length of the character that begins with this byte; 1 for a byte that begins none. */
const lengthOf = (byte: number): number =>
  byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1

/** Number of bytes at the end that begin a character and do not complete it. */
const incomplete = (bytes: Uint8Array): number => {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte >= 0xc0) return lengthOf(byte) > back ? back : 0
    if (byte < 0x80) return 0
  }
  return 0
}

/**
 * The text of a chunk in base64 behind the rest of the one before it, and what of it begins a character that the next one
 * completes. A chunk that is no base64 is no text.
 */
export const decodeChunk = (
  rest: Uint8Array,
  chunk: string,
): { readonly text: string; readonly rest: Uint8Array } => {
  const decoded = Encoding.decode(chunk)
  if (Result.isFailure(decoded)) return { text: "", rest }
  const bytes = new Uint8Array(rest.length + decoded.success.length)
  bytes.set(rest)
  bytes.set(decoded.success, rest.length)
  const end = bytes.length - incomplete(bytes)
  return {
    text: decoder.decode(bytes.subarray(0, end)),
    rest: end === bytes.length ? none : bytes.slice(end),
  }
}

/** No bytes. */
export const noBytes: Uint8Array = none

/** The text of bytes that begin a character which nothing completes. */
export const decodeRest = (rest: Uint8Array): string => decoder.decode(rest)
