import { ConversationStore } from "@colloquy/core/ConversationStore"
import { StoreError } from "@colloquy/core/StoreErrors"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { LineDecoder } from "../src/rollout/LineDecoder.ts"
import { parseHeader } from "../src/rollout/RolloutHeader.ts"
import { encodeLines, headerLines } from "../src/rollout/LineEncoder.ts"
import { readFileSync } from "node:fs"
import { metaOf, firstRecords } from "./support/Records.ts"
import { Machine, readAll } from "./support/Machine.ts"

/** The fixture that several versions of the original resumed. */
const resumed = readFileSync(
  new URL("./fixtures/resumed-by-original.jsonl", import.meta.url),
  "utf8",
)

const meta = metaOf(1)
const create = Effect.flatMap(ConversationStore, (store) => store.create(meta, firstRecords(meta)))
const open = Effect.flatMap(ConversationStore, (store) => store.open({ id: meta.id }))

const valuesOf = (file: string): ReadonlyArray<unknown> =>
  file
    .trimEnd()
    .split("\n")
    .map((line): unknown => JSON.parse(line))

describe("rollout files of different versions", () => {
  it("a file is written with the lines that the original 0.36.0, 0.45.0 and 0.153.4 resumed", () => {
    const [first = "", ...rest] = resumed.trimEnd().split("\n")
    const header = parseHeader([first, ...rest.slice(0, 9)])
    if (header === undefined) return assert.fail("the file begins with its header")
    const decoder = new LineDecoder(header.lineFormat, header.numbering, header.meta.createdAtMs)
    const records = rest.flatMap((line) => decoder.decode(line, resumed.length).records)
    const { text } = encodeLines({ seq: 0, id: "", unnumbered: 0 }, records)
    assert.deepStrictEqual(valuesOf(headerLines(header.meta) + text), valuesOf(resumed))
  })

  it.effect("a file with line types, events and items of a later version is opened", () =>
    Effect.gen(function* () {
      const machine = new Machine()
      yield* machine.run(create)
      const { file, files } = machine
      const before = files.text(file)
      const line = (type: string, payload: unknown) =>
        `${JSON.stringify({ timestamp: "2026-09-20T08:11:12.345Z", type, payload })}\n`
      const later = [
        line("colloquy_future", { anything: true }),
        line("event_msg", { type: "future_event" }),
        line("response_item", { type: "future_item" }),
        line("colloquy_mark", { seq: 20, id: "9", future: 1 }),
        line("event_msg", { type: "agent_message", message: "read", future: 1 }),
      ].join("")
      files.put(file, before + later)
      const { repairs } = yield* machine.run(open)
      assert.deepStrictEqual(repairs, [])
      const records = yield* machine.run(readAll(meta.id))
      const last = records.at(-1)
      assert.deepStrictEqual(last?._tag === "Event" ? last.event : last, {
        seq: 20,
        id: "9",
        msg: { type: "agent_message", message: "read" },
      })
    }),
  )

  it.effect("L11 a file with a later format is not opened and not changed", () =>
    Effect.gen(function* () {
      const machine = new Machine()
      yield* machine.run(create)
      const { file, files } = machine
      const later = files.text(file).replace('"format":1', '"format":2')
      assert.include(later, '"format":2')
      files.put(file, later)
      const error = yield* machine.run(Effect.flip(open))
      assert.instanceOf(error, StoreError)
      assert.include(
        error.message,
        "written by a later version of Colloquy in format 2; this version reads format 1",
      )
      assert.strictEqual(files.text(file), later)
      const listed = yield* machine.run(
        Effect.flatMap(ConversationStore, (store) => store.list({ limit: 10 })),
      )
      assert.strictEqual(listed.items.length, 1)
    }),
  )
})
