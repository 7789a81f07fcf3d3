import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import { decodeText, LineReader, type RawLine } from "../../src/rollout/LineReader.ts"

const encoder = new TextEncoder()

const newline = 0x0a

/** Each line is separated and decoded by itself. */
const eachLine = (bytes: Uint8Array): ReadonlyArray<RawLine> => {
  const lines: Array<RawLine> = []
  let offset = 0
  for (;;) {
    const stop = bytes.indexOf(newline, offset)
    if (stop === -1) return lines
    lines.push({ offset, end: stop + 1, text: decodeText(bytes.subarray(offset, stop)) })
    offset = stop + 1
  }
}

/** The lines of a file of which each read returns what was asked for, and the number of reads. */
const linesOf = Effect.fnUntraced(function* (bytes: Uint8Array, firstBytes: number) {
  let reads = 0
  const read = (offset: number, length: number) =>
    Effect.sync(() => {
      reads++
      return bytes.subarray(offset, offset + length)
    })
  const reader = new LineReader({ read }, 0, bytes.length, firstBytes)
  const lines: Array<RawLine> = []
  for (let more = yield* reader.next; more !== undefined; more = yield* reader.next) {
    lines.push(...more)
  }
  return { lines, reads }
})

/** Among them a byte order mark, characters of two to four bytes, and bytes that are not UTF-8. */
const pieces: ReadonlyArray<Uint8Array> = [
  ...[
    "\n",
    "\n",
    "\r\n",
    "{}",
    "words ",
    "\ufeff",
    "\ufeff\ufeff",
    "é",
    "€",
    "😀",
    "\u2028",
    "\0",
  ].map((text) => encoder.encode(text)),
  Uint8Array.of(0xff),
  Uint8Array.of(0xe2, 0x82),
]

const drawn = Effect.fnUntraced(function* (count: number, kinds: number) {
  const parts: Array<number> = []
  for (let i = 0; i < count; i++) {
    parts.push(...(pieces[yield* Random.nextIntBetween(0, kinds)] ?? []))
  }
  return Uint8Array.from(parts)
})

describe("the lines of a file", () => {
  it.effect("are the same whether they are decoded together or each by itself", () =>
    Effect.gen(function* () {
      for (let run = 0; run < 2000; run++) {
        // Every other file is valid UTF-8, whose lines are decoded together.
        const bytes = yield* drawn(run % 60, run % 2 === 0 ? 12 : pieces.length)
        const { lines } = yield* linesOf(bytes, 1 + (run % 40))
        assert.deepStrictEqual(lines, eachLine(bytes))
      }
    }),
  )

  it.effect("are read in pieces, each twice as long as the one before", () =>
    Effect.gen(function* () {
      const bytes = encoder.encode("a line\n".repeat(1000))
      const { lines, reads } = yield* linesOf(bytes, 1000)
      assert.strictEqual(lines.length, 1000)
      assert.strictEqual(reads, 3)
    }),
  )
})
