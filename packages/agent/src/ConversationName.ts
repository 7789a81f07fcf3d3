/**
 * Ids of conversations from names of the program's own: `user-17/orders` always means the same conversation. A name that
 * is a UUID is the id itself; of any other name the id is a UUID made of its SHA-256, so that nobody who chooses a name
 * can meet the conversation of another name. Pure.
 */
import { ConversationId, parseConversationId } from "@colloquy/protocol/Ids"
import { checkOptions, text } from "./internal/Options.ts"

const isPrime = (n: number): boolean => {
  for (let d = 2; d * d <= n; d++) if (n % d === 0) return false
  return true
}

/** The first 32 bits of the fraction of `root(p)`, for the first `count` primes p (FIPS 180-4, sections 4.2.2 and 5.3.3). */
const fractions = (count: number, root: (n: number) => number): ReadonlyArray<number> => {
  const found: Array<number> = []
  for (let n = 2; found.length < count; n++) {
    if (isPrime(n)) found.push(((root(n) % 1) * 2 ** 32) | 0)
  }
  return found
}

const initial = fractions(8, Math.sqrt)
const constants = fractions(64, Math.cbrt)

const rotated = (x: number, n: number) => (x >>> n) | (x << (32 - n))

/** The bytes with the end mark and their length in bits, a multiple of 64 bytes. */
const padded = (bytes: Uint8Array): DataView => {
  const view = new DataView(new ArrayBuffer(((bytes.length + 72) >> 6) << 6))
  new Uint8Array(view.buffer).set(bytes)
  view.setUint8(bytes.length, 0x80)
  view.setUint32(view.byteLength - 8, Math.floor(bytes.length / 2 ** 29))
  view.setUint32(view.byteLength - 4, bytes.length << 3)
  return view
}

/** The message schedule of one block of 64 bytes. */
const scheduleOf = (view: DataView, at: number): ReadonlyArray<number> => {
  const words: Array<number> = []
  for (let i = 0; i < 64; i++) {
    if (i < 16) {
      words.push(view.getInt32(at + i * 4))
      continue
    }
    const a = words[i - 15] ?? 0
    const b = words[i - 2] ?? 0
    const s0 = rotated(a, 7) ^ rotated(a, 18) ^ (a >>> 3)
    const s1 = rotated(b, 17) ^ rotated(b, 19) ^ (b >>> 10)
    words.push(((words[i - 16] ?? 0) + s0 + (words[i - 7] ?? 0) + s1) | 0)
  }
  return words
}

/** SHA-256 as eight words. Synchronous, because the platform's digest is not. */
const sha256 = (bytes: Uint8Array): ReadonlyArray<number> => {
  const view = padded(bytes)
  let hash = initial
  for (let at = 0; at < view.byteLength; at += 64) {
    const words = scheduleOf(view, at)
    let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = hash
    for (let i = 0; i < 64; i++) {
      const s1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + (constants[i] ?? 0) + (words[i] ?? 0)) | 0
      const s0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0
      ;[h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0]
    }
    hash = [a, b, c, d, e, f, g, h].map((word, i) => (word + (hash[i] ?? 0)) | 0)
  }
  return hash
}

const hex = (word: number) => (word >>> 0).toString(16).padStart(8, "0")

/** What the id is made of: UTF-8; of a name that has none, with half a surrogate pair, its code units after a byte that UTF-8 never has. */
const bytesOf = (name: string): Uint8Array => {
  if (name.isWellFormed()) return new TextEncoder().encode(name)
  const units = Array.from({ length: name.length }, (_, i) => name.charCodeAt(i))
  return Uint8Array.from([0xff, ...units.flatMap((unit) => [unit >> 8, unit & 0xff])])
}

/** True for an id that was made of a name: whoever knows the name can compute it. */
export const isMadeOfName = (id: ConversationId): boolean => id.charAt(14) === "8"

/** The id of the conversation with this name, as a UUID of version 8 (RFC 9562 section 5.8) unless the name is one. */
export const conversationIdOf = (name: string): ConversationId => {
  checkOptions("Agent.conversationIdOf name", text, name)
  const given = parseConversationId(name)
  if ("id" in given) return given.id
  const digits = sha256(bytesOf(name)).slice(0, 4).map(hex).join("")
  const variant = ((Number.parseInt(digits.slice(16, 17), 16) & 0x3) | 0x8).toString(16)
  return ConversationId.make(
    [
      digits.slice(0, 8),
      digits.slice(8, 12),
      `8${digits.slice(13, 16)}`,
      `${variant}${digits.slice(17, 20)}`,
      digits.slice(20, 32),
    ].join("-"),
  )
}
