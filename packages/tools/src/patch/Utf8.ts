/** Decodes the bytes of a file, or says where they are not UTF-8, in the words of the original's runtime. */
import * as Result from "effect/Result"

/** Allowed second bytes where not all of 80–BF are: no overlong forms, no surrogates, nothing above U+10FFFF. */
const secondByte = (lead: number): readonly [number, number] => {
  if (lead === 0xe0) return [0xa0, 0xbf]
  if (lead === 0xed) return [0x80, 0x9f]
  if (lead === 0xf0) return [0x90, 0xbf]
  return lead === 0xf4 ? [0x80, 0x8f] : [0x80, 0xbf]
}

const lengthOf = (lead: number): number => {
  if (lead < 0x80) return 1
  if (lead >= 0xc2 && lead <= 0xdf) return 2
  if (lead >= 0xe0 && lead <= 0xef) return 3
  return lead >= 0xf0 && lead <= 0xf4 ? 4 : 0
}

/** Number of valid bytes of the sequence that starts at `at`, and its expected length. */
const sequenceAt = (bytes: Uint8Array, at: number): readonly [valid: number, length: number] => {
  const lead = bytes[at] ?? 0
  const length = lengthOf(lead)
  for (let i = 1; i < length; i++) {
    const [low, high] = i === 1 ? secondByte(lead) : [0x80, 0xbf]
    const byte = bytes[at + i]
    if (byte === undefined || byte < low || byte > high) return [i, length]
  }
  return [length === 0 ? 0 : length, length]
}

const faultOf = (bytes: Uint8Array): string => {
  let at = 0
  while (at < bytes.length) {
    const [valid, length] = sequenceAt(bytes, at)
    if (valid < length || length === 0) {
      return at + valid === bytes.length && length > 0
        ? `incomplete utf-8 byte sequence from index ${at}`
        : `invalid utf-8 sequence of ${Math.max(1, valid)} bytes from index ${at}`
    }
    at += length
  }
  return "invalid utf-8"
}

/** The text, with a byte order mark kept as U+FEFF; or the reason why it cannot be decoded. */
export const decode = (bytes: Uint8Array): Result.Result<string, string> =>
  Result.try({
    try: () => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes),
    catch: () => faultOf(bytes),
  })
