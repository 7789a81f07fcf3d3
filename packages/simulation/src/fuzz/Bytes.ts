/** Mutations of bytes that ignore the meaning of the bytes. Pure except for the draws. */
import type { SeededRandom } from "../SeededRandom.ts"

const utf8 = new TextEncoder()

/** The text in UTF-8. */
export const encode = (text: string): Uint8Array => utf8.encode(text)

/** One of the items; throws for an empty list. */
export const oneOf = <A>(draws: SeededRandom, items: ReadonlyArray<A>): A => {
  const found = items[draws.below(items.length)]
  if (found === undefined) throw new Error("a draw from an empty list")
  return found
}

/** All parts in one array. */
export const concat = (...parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const out = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    out.set(part, at)
    at += part.length
  }
  return out
}

const replaced = (input: Uint8Array, from: number, to: number, by: Uint8Array): Uint8Array =>
  concat(input.subarray(0, from), by, input.subarray(to))

/** Bytes that decoders treat specially: ends of lines, quotes, brackets, NUL, bytes that are not UTF-8. */
const bytes = [
  0, 1, 9, 10, 13, 27, 32, 34, 39, 44, 45, 46, 47, 48, 57, 58, 61, 91, 92, 93, 123, 125, 127, 128,
  191, 192, 226, 237, 244, 254, 255,
]

const tokens = [
  "\n",
  "\r\n",
  "\r",
  "\n\n",
  "\0",
  "\u2028",
  "",
  "﻿",
  "‮",
  "😀",
  "null",
  "true",
  "-0",
  "1e400",
  "9007199254740993",
  "\\u0000",
  "\\ud800",
  "__proto__",
  "{}",
  "[]",
  '""',
  "//",
  "..",
  "%00",
  "%2e%2e",
  "%",
  "\\",
  "'",
  "${",
  "*",
  "**/",
  "[[",
  "]]",
].map(encode)

/** Invalid UTF-8: an overlong character, half of a surrogate pair, a truncated character, a code point out of range. */
const malformed = [
  [0xc0, 0x80],
  [0xed, 0xa0, 0x80],
  [0xf0, 0x9f, 0x98],
  [0xf5, 0x80, 0x80, 0x80],
].map((sequence) => Uint8Array.from(sequence))

const lengths = [1, 2, 4, 8, 32, 128, 1024, 8192]

type Mutation = (input: Uint8Array, draws: SeededRandom, donor: Uint8Array) => Uint8Array

/** A random range of the input, usually a few bytes, at most 256. */
const range = (input: Uint8Array, draws: SeededRandom): readonly [from: number, to: number] => {
  const from = draws.below(input.length + 1)
  const length = 1 + draws.below(draws.chance(0.7) ? 8 : 256)
  return [from, Math.min(input.length, from + length)]
}

/** Flips a bit, replaces a byte, removes a range, repeats a range. */
const localChanges: ReadonlyArray<Mutation> = [
  (input, draws) => {
    const at = draws.below(Math.max(1, input.length))
    return replaced(input, at, at + 1, Uint8Array.of((input[at] ?? 0) ^ (1 << draws.below(8))))
  },
  (input, draws) => {
    const at = draws.below(Math.max(1, input.length))
    return replaced(input, at, at + 1, Uint8Array.of(oneOf(draws, bytes)))
  },
  (input, draws) => replaced(input, ...range(input, draws), new Uint8Array()),
  (input, draws) => {
    const [from, to] = range(input, draws)
    return replaced(input, to, to, input.slice(from, to))
  },
]

/** Inserts a token, inserts invalid UTF-8, truncates, inserts a run of one byte. */
const insertions: ReadonlyArray<Mutation> = [
  (input, draws) => {
    const at = draws.below(input.length + 1)
    return replaced(input, at, at, oneOf(draws, tokens))
  },
  (input, draws) => {
    const at = draws.below(input.length + 1)
    return replaced(input, at, at, oneOf(draws, malformed))
  },
  (input, draws) => input.subarray(0, draws.below(input.length + 1)),
  (input, draws) => {
    const at = draws.below(input.length + 1)
    const byte = draws.chance(0.5) ? oneOf(draws, bytes) : 0x61
    return replaced(input, at, at, new Uint8Array(oneOf(draws, lengths)).fill(byte))
  },
]

/** Inserts a range of the donor, continues with the donor, reverses a range. */
const recombinations: ReadonlyArray<Mutation> = [
  (input, draws, donor) => {
    const [from, to] = range(donor, draws)
    const at = draws.below(input.length + 1)
    return replaced(input, at, at, donor.slice(from, to))
  },
  (input, draws, donor) =>
    concat(
      input.subarray(0, draws.below(input.length + 1)),
      donor.subarray(draws.below(donor.length + 1)),
    ),
  (input, draws) => {
    const [from, to] = range(input, draws)
    return replaced(input, from, to, input.slice(from, to).toReversed())
  },
]

/** The order is part of the seeded sequence: another order gives other inputs. */
const mutations = [...localChanges, ...insertions, ...recombinations]

/**
 * One mutation of the bytes.
 *
 * @param donor another valid input, of which a part may be inserted
 */
export const mutateBytes = (
  input: Uint8Array,
  draws: SeededRandom,
  donor: Uint8Array,
): Uint8Array => oneOf(draws, mutations)(input, draws, donor)
