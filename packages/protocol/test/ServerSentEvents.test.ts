import { assert, describe, it } from "@effect/vitest"
import { ServerSentEvents } from "../src/ServerSentEvents.ts"

const encoder = new TextEncoder()

/** The data of a stream that comes in these pieces, and whether it kept to the limit. */
const read = (pieces: ReadonlyArray<Uint8Array>, maxBytes = 1000) => {
  const data: Array<string> = []
  const events = new ServerSentEvents(maxBytes, (one) => data.push(one))
  const fits = pieces.reduce((all, piece) => events.feed(piece) && all, true)
  return { data, fits: events.end() && fits }
}

const cuts = (bytes: Uint8Array): ReadonlyArray<ReadonlyArray<Uint8Array>> => [
  ...Array.from(bytes, (_, at) => [bytes.subarray(0, at), bytes.subarray(at)]),
  Array.from(bytes, (byte) => Uint8Array.of(byte)),
]

const streams: ReadonlyArray<readonly [name: string, text: string, data: ReadonlyArray<string>]> = [
  ["lines of all three ends", "data: a\n\ndata:b\r\n\r\ndata:c\r\rdata:d\n", ["a", "b", "c", "d"]],
  ["an event of several lines", "data: a\ndata\ndata:  b\n\n", ["a\n\n b"]],
  ["what is no data", ": comment\nevent: x\nid: 1\nretry: 5\ndatum: y\n\ndata: z\n\n", ["z"]],
  ["a byte order mark, and one within", "\ufeffdata: \ufeffé\u{1f600}\n\n", ["\ufeffé\u{1f600}"]],
  ["empty data", "data:\n\n\n\ndata\n\n", ["", ""]],
]

describe("server-sent events", () => {
  for (const [name, text, data] of streams) {
    it(`L13 read the same wherever their bytes are cut: ${name}`, () => {
      const bytes = encoder.encode(text)
      for (const pieces of [[bytes], ...cuts(bytes)]) {
        assert.deepStrictEqual(read(pieces), { data, fits: true })
      }
    })
  }

  it("L13 read invalid UTF-8 as U+FFFD, and leave the rest of the stream unchanged", () => {
    const bytes = Uint8Array.of(...encoder.encode("data: a"), 0xc3, 0x28, 0xff, 10, 10)
    for (const pieces of [[bytes], ...cuts(bytes)]) {
      assert.deepStrictEqual(read(pieces).data, ["a\ufffd(\ufffd"])
    }
  })

  it("L13 reject the same lines and events wherever their bytes are cut", () => {
    for (const long of [
      `data: ok\n\n: ${"c".repeat(40)}\n\ndata: no\n\n`,
      `data: ok\n\ndata: ${"d".repeat(40)}\n\ndata: no\n\n`,
      `data: ok\n\n${"data: 12345678\n".repeat(4)}\n\ndata: no\n\n`,
      `data: ok\n\ndata: ${"e".repeat(40)}`,
    ]) {
      const bytes = encoder.encode(long)
      for (const pieces of [[bytes], ...cuts(bytes)]) {
        assert.deepStrictEqual(read(pieces, 32), { data: ["ok"], fits: false })
      }
    }
  })

  it(
    "L13 take a line of 16 MiB that comes byte by byte in time linear in its length",
    { timeout: 20_000 },
    () => {
      const events = new ServerSentEvents(16 * 1024 * 1024, () => {})
      const byte = encoder.encode("x")
      for (let i = 0; i < 16 * 1024 * 1024; i++) events.feed(byte)
      assert.isFalse(events.feed(byte))
    },
  )
})
