import type { Position } from "@colloquy/core/ConversationStore"
import type { LogRecord } from "@colloquy/core/LogRecord"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { FileHandle } from "../../src/Files.ts"
import { parseHeader } from "../../src/rollout/RolloutHeader.ts"
import { LogReader } from "../../src/rollout/LogReader.ts"
import { Waypoints } from "../../src/rollout/Waypoints.ts"
import { encodeLines, headerLines } from "../../src/rollout/LineEncoder.ts"
import { events, message, metaOf, firstRecords, userMessage, turn } from "../support/Records.ts"

/** A reader over these bytes that counts the bytes it reads. */
const over = (text: string) => {
  const bytes = new TextEncoder().encode(text)
  const counted = { bytes: 0 }
  const handle: FileHandle = {
    read: (offset, length) =>
      Effect.sync(() => {
        counted.bytes += Math.min(length, bytes.length - offset)
        return bytes.subarray(offset, offset + length)
      }),
    write: () => Effect.die("write"),
    truncate: () => Effect.die("truncate"),
    sync: Effect.die("sync"),
    syncCreated: Effect.die("sync"),
    stat: Effect.die("stat"),
  }
  const header = parseHeader(text.split("\n", 10))
  if (header === undefined) throw new Error("no rollout")
  const fresh = () => new LogReader(handle, header, new Waypoints())
  return { fresh, reader: fresh(), end: bytes.length, counted, header }
}

const meta = metaOf(1)

const ours = (records: ReadonlyArray<LogRecord>) =>
  headerLines(meta) + encodeLines({ seq: 0, id: "", unnumbered: 0 }, records).text

/** About 3 MB: ordinary turns, and a stretch of lines of the original's types only. */
const long: ReadonlyArray<LogRecord> = [
  ...firstRecords(meta),
  ...Array.from({ length: 400 }, (_, i) =>
    turn(1 + 10 * i, String(i), `words ${i}`, "x".repeat(300)),
  ).flat(),
  ...events(
    4001,
    Array.from({ length: 3000 }, (_, i) => message("assistant", `${i} ${"y".repeat(200)}`)),
    "last",
  ),
]
const longText = ours(long)

const foreignText = [
  headerLines(meta).split("\n")[0],
  ...Array.from({ length: 20_000 }, (_, i) =>
    JSON.stringify({
      timestamp: "2025-09-20T08:11:12.345Z",
      type: "event_msg",
      payload: userMessage(`words ${i} ${"z".repeat(100)}`),
    }),
  ),
  "",
].join("\n")

const all = Effect.fnUntraced(function* (text: string) {
  const { end, reader } = over(text)
  return yield* reader.readForward(0, Infinity, end)
})

describe("pages of a long log", () => {
  it.effect("read forward together are the log, and end early when they are large", () =>
    Effect.gen(function* () {
      const { end, reader } = over(longText)
      const records: Array<LogRecord> = []
      for (let from: Position | undefined = 0; from !== undefined;) {
        const page: { readonly records: ReadonlyArray<LogRecord>; readonly next?: Position } =
          yield* reader.readForward(from, 777, end)
        records.push(...page.records)
        from = page.next
      }
      assert.deepStrictEqual(records, long)
      const large = over(
        ours(
          events(
            0,
            Array.from({ length: 50 }, () => userMessage("w".repeat(1_000_000))),
            "",
          ),
        ),
      )
      const page = yield* large.reader.readForward(0, 1000, large.end)
      assert.strictEqual(page.records.length, 9, "8 MiB and what was begun")
      assert.isDefined(page.next)
      const last = yield* large.reader.readBackward(Infinity, 1000, large.end)
      assert.isBelow(last.records.length, 10)
      assert.isAbove(last.records.length, 5)
    }),
  )

  it.effect("the last page is read without reading the whole file", () =>
    Effect.gen(function* () {
      const { counted, end, reader } = over(longText)
      const page = yield* reader.readBackward(Infinity, 100, end)
      assert.deepStrictEqual(page.records, long.slice(-100))
      assert.isBelow(counted.bytes, 500_000, `of ${end}`)
      const before = yield* reader.readBackward(page.next ?? 0, 100, end)
      assert.deepStrictEqual(before.records, long.slice(-200, -100))
    }),
  )

  it.effect("any event is found without reading the whole file", () =>
    Effect.gen(function* () {
      const { counted, end, fresh } = over(longText)
      for (const seq of [0, 1, 777, 4000, 4001, 5555, 7000]) {
        counted.bytes = 0
        const reader = fresh()
        const position = yield* reader.positionOf(seq, end)
        const { records } = yield* reader.readForward(position ?? 0, 1, end)
        const expected = long.find((r) => r._tag === "Event" && r.event.seq === seq)
        assert.deepStrictEqual(records, expected === undefined ? [] : [expected])
        assert.isBelow(counted.bytes, 1_900_000, `${seq} of ${end}`)
      }
      assert.isUndefined(yield* fresh().positionOf(7001, end))
    }),
  )

  it.effect("every event of a log is found, including those with explicit numbers", () =>
    Effect.gen(function* () {
      const records = [
        ...firstRecords(meta),
        ...Array.from({ length: 60 }, (_, i) =>
          turn(1 + 10 * i, String(i), `words ${i}`, "x".repeat(3000)),
        ).flat(),
      ]
      const { end, fresh } = over(ours(records))
      assert.isAbove(end, 250_000)
      for (let seq = 0; seq <= 600; seq++) {
        const position = yield* fresh().positionOf(seq, end)
        const page = yield* fresh().readForward(position ?? 0, 1, end)
        const [found] = page.records
        assert.strictEqual(found?._tag === "Event" ? found.event.seq : undefined, seq)
      }
    }),
  )

  it.effect(
    "of a file of the original, without numbers, are counted from its beginning, and the second time from a near place",
    () =>
      Effect.gen(function* () {
        const { counted, end, reader } = over(foreignText)
        const whole = (yield* all(foreignText)).records
        assert.strictEqual(whole.length, 20_001)
        const last = yield* reader.readBackward(Infinity, 50, end)
        assert.deepStrictEqual(last.records, whole.slice(-50))
        counted.bytes = 0
        const before = yield* reader.readBackward(last.next ?? 0, 50, end)
        assert.deepStrictEqual(before.records, whole.slice(-100, -50))
        assert.isBelow(counted.bytes, 3_000_000, `of ${end}`)
        const position = yield* reader.positionOf(12_345, end)
        const { records } = yield* reader.readForward(position ?? 0, 1, end)
        assert.deepStrictEqual(records, whole.slice(12_345, 12_346))
      }),
  )

  it.effect("L4 a lost line is counted the same from both ends and from the middle", () =>
    Effect.gen(function* () {
      const lines = longText.split("\n")
      const numbered = lines.findLastIndex((line) => line.includes('"colloquy_mark"'))
      for (const bad of [3, 700, 2500, 5100, numbered]) {
        const half = bad === numbered ? (lines[bad] ?? "").slice(0, -1) : "{half"
        const text = lines.with(bad, half).join("\n")
        const { end, fresh } = over(text)
        const forward = (yield* all(text)).records
        assert.deepStrictEqual(
          forward.flatMap((r) => (r._tag === "Event" ? [r.event.seq] : [])),
          Array.from({ length: 7001 }, (_, i) => i),
        )
        const backward = yield* fresh().readBackward(Infinity, 100, end)
        assert.deepStrictEqual(backward.records, forward.slice(-100), `line ${bad}`)
        for (const seq of [1000, 4500, 6900, 7000]) {
          const position = yield* fresh().positionOf(seq, end)
          const page = yield* fresh().readForward(position ?? 0, 50, end)
          const at = forward.findIndex((r) => r._tag === "Event" && r.event.seq === seq)
          assert.deepStrictEqual(page.records, forward.slice(at, at + 50), `${seq} with ${bad}`)
        }
      }
    }),
  )
})
