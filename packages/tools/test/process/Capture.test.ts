import { assert, describe, it } from "@effect/vitest"
import { Capture } from "../../src/process/Capture.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

const captured = (maxBytes: number, ...chunks: ReadonlyArray<Uint8Array>) => {
  const capture = new Capture(maxBytes)
  for (const chunk of chunks) capture.push(chunk)
  return capture.finish()
}

describe("Capture", () => {
  it("keeps everything that fits", () => {
    assert.deepStrictEqual(captured(8, bytes("abc"), bytes("defgh")), {
      text: "abcdefgh",
      totalBytes: 8,
      omittedBytes: 0,
    })
    assert.deepStrictEqual(captured(8), { text: "", totalBytes: 0, omittedBytes: 0 })
  })

  it("keeps the head and the tail of what does not fit, and states how much is missing", () => {
    assert.deepStrictEqual(captured(8, bytes("abcdefghi")), {
      text: "abcd\n[... omitted 1 of 9 bytes ...]\nfghi",
      totalBytes: 9,
      omittedBytes: 1,
    })
  })

  it("gives the same result however the bytes are split", () => {
    const all = bytes(Array.from({ length: 100 }, (_, line) => `line ${line}`).join("\n"))
    for (const maxBytes of [2, 3, 16, 17, 100, 1000]) {
      const whole = captured(maxBytes, all)
      for (const size of [1, 2, 3, 7, 16, 50, 99]) {
        const pieces = Array.from({ length: Math.ceil(all.length / size) }, (_, piece) =>
          all.subarray(piece * size, (piece + 1) * size),
        )
        assert.deepStrictEqual(captured(maxBytes, ...pieces), whole, `${maxBytes} by ${size}`)
      }
    }
  })

  it("reads a character split over two chunks as one", () => {
    const [first, second] = [bytes("ä").subarray(0, 1), bytes("ä").subarray(1)]
    assert.strictEqual(captured(8, first, second).text, "ä")
  })

  it("cuts between characters and counts the removed bytes", () => {
    assert.deepStrictEqual(captured(8, bytes("a€€€€b")), {
      text: "a€\n[... omitted 6 of 14 bytes ...]\n€b",
      totalBytes: 14,
      omittedBytes: 6,
    })
    // Head and tail both end within a character of four bytes.
    assert.strictEqual(captured(6, bytes("😀😀😀")).text, "\n[... omitted 12 of 12 bytes ...]\n")
  })

  it("keeps NUL and the byte order mark, and shows what is not UTF-8", () => {
    assert.strictEqual(captured(16, new Uint8Array([0x61, 0, 0xff, 0x62])).text, "a\0\ufffdb")
    assert.strictEqual(captured(16, bytes("\ufeffa")).text, "\ufeffa")
    assert.strictEqual(captured(10, new Uint8Array(12).fill(0x80)).omittedBytes, 2)
  })
})
