import { assert, describe, it } from "@effect/vitest"
import type { Frame } from "@colloquy/protocol/Connection"
import * as EnvelopeScan from "@colloquy/protocol/EnvelopeScan"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import * as Lines from "../src/Lines.ts"

const text = (line: string): Frame => ({ _tag: "Text", text: line })
const tooLong = (bytes: number, maxBytes: number): Frame => ({ _tag: "TooLong", bytes, maxBytes })
const notUtf8 = (bytes: number): Frame => ({ _tag: "NotUtf8", bytes })

const read = (chunks: ReadonlyArray<Uint8Array>, maxBytes?: number): ReadonlyArray<Frame> => {
  const lines = Lines.make(maxBytes)
  return [...chunks.flatMap((chunk) => lines.push(chunk)), ...lines.end()]
}

const cut = (bytes: Uint8Array, sizes: ReadonlyArray<number>): ReadonlyArray<Uint8Array> => {
  const chunks: Array<Uint8Array> = []
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length] ?? 1
    chunks.push(bytes.subarray(at, at + size))
    at += size
  }
  return chunks
}

/** A reference implementation of the rules that takes the whole input at once. */
const model = (bytes: Buffer, maxBytes: number): ReadonlyArray<Frame> => {
  const lines: Array<Array<number>> = [[]]
  for (const byte of bytes) {
    if (byte === 0x0a) lines.push([])
    else lines.at(-1)?.push(byte)
  }
  return lines.flatMap((line): ReadonlyArray<Frame> => {
    if (line.length > maxBytes) {
      const scan = EnvelopeScan.make()
      scan.push(Uint8Array.from(line))
      const envelope = scan.end()
      const frame = { _tag: "TooLong", bytes: line.length, maxBytes } as const
      return [envelope === undefined ? frame : { ...frame, envelope }]
    }
    try {
      const decoded = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
        .decode(Uint8Array.from(line))
        .replace(/^\uFEFF/, "")
        .replace(/\r$/, "")
      return /^[ \t\r]*$/.test(decoded) ? [] : [text(decoded)]
    } catch {
      return [notUtf8(line.length)]
    }
  })
}

const cases: ReadonlyArray<{
  readonly name: string
  readonly input: string | ReadonlyArray<number>
  readonly expected: ReadonlyArray<Frame>
}> = [
  { name: "lines end at LF", input: "a\nb\n", expected: [text("a"), text("b")] },
  {
    name: "the CR of CRLF is removed, only one and only there",
    input: "a\r\r\nb\rc\n",
    expected: [text("a\r"), text("b\rc")],
  },
  { name: "a last line without LF counts", input: "a\nb", expected: [text("a"), text("b")] },
  { name: "blank lines are dropped", input: "\n\r\n  \t\r\na\n\n", expected: [text("a")] },
  { name: "blanks around a text are kept", input: "  a \n", expected: [text("  a ")] },
  {
    name: "a byte order mark at the start of a line is removed",
    input: "\uFEFFa\n\uFEFF\nb\uFEFF\n",
    expected: [text("a"), text("b\uFEFF")],
  },
  {
    name: "a U+2028 inside a text does not end it",
    input: "a\u2028b\n",
    expected: [text("a\u2028b")],
  },
  { name: "a NUL is a character like others", input: "a\u0000b\n", expected: [text("a\u0000b")] },
  { name: "nothing gives nothing", input: "", expected: [] },
  {
    name: "L13 a line that is not UTF-8 is reported with its size and affects no other line",
    input: [0x61, 0x0a, 0xff, 0xfe, 0x0a, 0x62, 0x0a],
    expected: [text("a"), notUtf8(2), text("b")],
  },
  {
    name: "L13 a character cut by the end of its line is reported",
    input: [0xc3, 0x0a, 0xa9, 0x0a, 0x62],
    expected: [notUtf8(1), notUtf8(1), text("b")],
  },
  {
    name: "L13 an encoded lone surrogate is not UTF-8",
    input: [0xed, 0xa0, 0x80, 0x0a],
    expected: [notUtf8(3)],
  },
  {
    name: "L13 a line of exactly the limit passes, one byte more is reported with its size",
    input: `${"x".repeat(8)}\n${"y".repeat(9)}\nz\n`,
    expected: [text("xxxxxxxx"), tooLong(9, 8), text("z")],
  },
  {
    name: "L13 an over-long last line is reported",
    input: `a\n${"y".repeat(30)}`,
    expected: [text("a"), tooLong(30, 8)],
  },
  {
    name: "the limit counts bytes, not characters",
    input: "ééééé\néééé\n",
    expected: [tooLong(10, 8), text("éééé")],
  },
]

describe("Lines", () => {
  for (const { name, input, expected } of cases) {
    it(name, () => {
      const bytes = Buffer.from(typeof input === "string" ? Buffer.from(input) : input)
      assert.deepStrictEqual(read([bytes], 8), expected)
      assert.deepStrictEqual(read(cut(bytes, [1]), 8), expected)
    })
  }

  it("returns a frame as soon as its line ends", () => {
    const lines = Lines.make()
    assert.deepStrictEqual(
      ["a", "b\nc", "\n", "d"].map((chunk) => lines.push(Buffer.from(chunk))),
      [[], [text("ab")], [text("c")], []],
    )
  })

  it("reads plain byte arrays and views into larger ones", () => {
    const whole = Uint8Array.from(Buffer.from("junk{é}\njunk"))
    assert.deepStrictEqual(read([whole.subarray(4, 9)]), [text("{é}")])
  })

  const pieces: ReadonlyArray<Uint8Array> = [
    "\n",
    "\n",
    "\r\n",
    "\r",
    " ",
    "\uFEFF",
    "a",
    "é",
    "€",
    "😀",
    "0123456789",
    `{"id":1}`,
  ]
    .map((piece): Uint8Array => Buffer.from(piece))
    .concat([0xff, 0xc3, 0x80, 0xf0].map((byte) => Uint8Array.of(byte)))
  const between = (minimum: number, maximum: number) =>
    Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum, maximum })))

  it.prop(
    "L13 any bytes in any chunks yield the frames of the rules, one frame per line",
    {
      choice: Arbitrary.array(between(0, pieces.length - 1), { maxLength: 60 }),
      sizes: Arbitrary.array(between(1, 9), { minLength: 1, maxLength: 12 }),
      maxBytes: between(1, 24),
    },
    ({ choice, sizes, maxBytes }) => {
      const bytes = Buffer.concat(choice.map((i) => pieces[i] ?? Buffer.alloc(0)))
      const expected = model(bytes, maxBytes)
      assert.deepStrictEqual(read([bytes], maxBytes), expected)
      assert.deepStrictEqual(read(cut(bytes, sizes), maxBytes), expected)
    },
    { arbitrary: { runs: 500 } },
  )

  it.prop(
    "L9 texts without raw newlines are received unchanged, whatever the chunks",
    {
      values: Arbitrary.array(Arbitrary.schema(Schema.String), { maxLength: 20 }),
      sizes: Arbitrary.array(between(1, 40), { minLength: 1, maxLength: 8 }),
    },
    ({ values, sizes }) => {
      const texts = values.map((value) => JSON.stringify({ value }))
      const bytes = Buffer.from(texts.map((line) => `${line}\n`).join(""))
      assert.deepStrictEqual(read(cut(bytes, sizes)), texts.map(text))
    },
    { arbitrary: { runs: 200 } },
  )

  it.each([
    '{"jsonrpc":"2.0","id":"ID","method":"m","params":{"id":2,"text":"TEXT"}}',
    '{"method":"m","params":{"deep":[{"id":3}],"text":"\\"id\\":4TEXT"},"jsonrpc":"2.0","id":"ID"}',
  ])("L13 the id of a line that is too long is read, wherever it is: %.40s", (message) => {
    const bytes = Buffer.from(`${message.replace("TEXT", "x".repeat(1000))}\n`)
    const expected: Frame = {
      _tag: "TooLong",
      bytes: bytes.length - 1,
      maxBytes: 100,
      setting: "max",
      envelope: { kind: "call", idToken: '"ID"' },
    }
    for (const sizes of [[bytes.length], [1], [99, 101], [1000]]) {
      const lines = Lines.make(100, "max")
      const frames = cut(Buffer.concat([bytes, bytes]), sizes).flatMap((chunk) => lines.push(chunk))
      assert.deepStrictEqual(frames, [expected, expected])
    }
  })

  it("L13 the id is read of a line that the end of the input cuts off", () => {
    const lines = Lines.make(100)
    lines.push(Buffer.from(`{"id":7,"method":"m","params":{"text":"${"x".repeat(1000)}`))
    const [frame] = lines.end()
    assert.deepStrictEqual(frame?._tag === "TooLong" && frame.envelope, {
      kind: "call",
      idToken: "7",
    })
  })

  // Memory is measured after a full collection, so the figures contain only what is held.
  setFlagsFromString("--expose-gc")
  const collect: () => void = runInNewContext("gc")
  const held = () => {
    collect()
    // Buffers are released concurrently with the collection; the next collection waits for that.
    collect()
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    return heapUsed + arrayBuffers
  }
  const mebibyte = 1024 * 1024

  it("L13 an endless line is skipped in bounded memory and the next line is read", () => {
    const lines = Lines.make(1024)
    const before = held()
    for (let i = 0; i < 64; i++) {
      assert.deepStrictEqual(lines.push(Buffer.alloc(mebibyte, 0x78)), [])
    }
    assert.isBelow(held() - before, 4 * mebibyte)
    assert.deepStrictEqual(lines.push(Buffer.from("\nnext\n")), [
      tooLong(64 * mebibyte, 1024),
      text("next"),
    ])
  })

  it("L13 a line sent byte by byte is held without an object per byte", () => {
    const lines = Lines.make()
    const line = "x".repeat(mebibyte / 2)
    const bytes = Buffer.from(line)
    const before = held()
    for (let i = 0; i < bytes.length; i++) lines.push(bytes.subarray(i, i + 1))
    assert.isBelow(held() - before, 4 * mebibyte)
    assert.deepStrictEqual(lines.push(Buffer.from("\n")), [text(line)])
  })
})
