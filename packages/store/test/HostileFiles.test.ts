import { ConversationStore } from "@colloquy/core/ConversationStore"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { LineDecoder } from "../src/rollout/LineDecoder.ts"
import { Files } from "../src/Files.ts"
import { indexedMeta, indexedPath } from "../src/catalog/IndexedMeta.ts"
import { isoOf } from "../src/internal/IsoTime.ts"
import { encodeLines, headerLines, markLine } from "../src/rollout/LineEncoder.ts"
import { rolloutName } from "../src/rollout/RolloutName.ts"
import { unfoldRepeats } from "../src/rollout/RepeatedText.ts"
import { events, idOf, metaOf, firstRecords, startMs } from "./support/Records.ts"
import { home, Machine, readAll } from "./support/Machine.ts"

const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`

const lineOf = (type: string, payload: string) =>
  `{"timestamp":"${isoOf(startMs)}","type":"${type}","payload":${payload}}\n`

/** Rollout files with hostile contents, and an index that another program changed. */
const planted = (lines: string) => {
  const machine = new Machine()
  const { folder, file } = rolloutName(idOf(1), startMs)
  return Effect.gen(function* () {
    const files = yield* Files
    yield* files.makeDirectory(`${home}/${folder}`)
    machine.files.put(`${home}/${folder}/${file}`, headerLines(metaOf(1)) + lines)
    return machine
  }).pipe(Effect.provide(machine.files.layer))
}

describe("a hostile rollout file", () => {
  it.effect("L13 with numbers that no file of its length can reach: those lines are left out", () =>
    Effect.gen(function* () {
      const lines = Array.from({ length: 200 }, (_, i) =>
        markLine(startMs, { seq: (i + 1) * 131_000, id: "" }),
      ).join("")
      const machine = yield* planted(lines)
      const { listed, opened, records } = yield* machine.run(
        Effect.gen(function* () {
          const store = yield* ConversationStore
          const listed = yield* store.list({ limit: 10 })
          const opened = yield* store.open({ id: idOf(1) })
          return { listed, opened, records: yield* readAll(idOf(1)) }
        }),
      )
      assert.strictEqual(listed.items.length, 1)
      assert.isBelow(records.length, lines.length)
      assert.match(opened.repairs.at(-1)?.message ?? "", /lines? .*cannot be read/)
    }),
  )

  it("L13 with an extremely nested line: it is left out and the lines around it are read", () => {
    const decoder = new LineDecoder("colloquy", { seq: 0, id: "" }, 0)
    const item = (y: string) =>
      lineOf("response_item", `{"type":"web_search_call","action":{"type":"x","y":${y}}}`)
    assert.deepStrictEqual(decoder.decode(item(nested(50_000)), 1e6), { records: [], bad: true })
    const { records } = decoder.decode(item(nested(300)), 1e6)
    assert.isAbove(JSON.stringify(records).length, 600)
  })

  it("L13 with types that are not strings: those lines are left out and nothing is thrown", () => {
    const type = '{"toString":0,"valueOf":0}'
    for (const line of [
      `{"type":${type}}`,
      lineOf("response_item", `{"type":${type}}`),
      lineOf("event_msg", `{"type":${type}}`),
    ]) {
      assert.deepStrictEqual(new LineDecoder("august", { seq: 0, id: "" }, 0).decode(line, 1e6), {
        records: [],
      })
    }
  })

  it.effect(
    "L11 yields the same records from its end as from its beginning, including what a mark says about a summary",
    () =>
      Effect.gen(function* () {
        // A search from the end starts behind the mark that precedes such a long line.
        const message = "s".repeat(200 * 1024)
        const records = [
          ...firstRecords(metaOf(1)),
          ...events(1, [{ type: "compacted", message, keeps_input: true }], "0"),
        ]
        const machine = yield* planted(encodeLines({ seq: 0, id: "", unnumbered: 0 }, records).text)
        const [last] = yield* machine.run(
          Effect.gen(function* () {
            const store = yield* ConversationStore
            return (yield* store.readBackward(idOf(1), { max: 1 })).records
          }),
        )
        assert.deepStrictEqual(last, records.at(-1))
      }),
  )

  it("L13 with references to members that cannot repeat: only repeated output is restored", () => {
    const msg = { type: "exec_command_end", stdout: { polluted: true } }
    const same: unknown = JSON.parse('{"__proto__":"stdout","type":"stdout","stderr":"stdout"}')
    const whole = unfoldRepeats(msg, same) as Readonly<Record<string, unknown>>
    assert.deepStrictEqual(whole, { ...msg, stderr: msg.stdout })
    assert.strictEqual(Object.getPrototypeOf(whole), Object.prototype)
  })
})

describe("an index that another program changed", () => {
  const id = idOf(1)
  const { file } = rolloutName(id, startMs)

  it("L13 is damaged when its metadata is invalid, and the error says what was expected", () => {
    for (const json of [
      "null",
      "{}",
      "[",
      nested(1000),
      JSON.stringify({ ...metaOf(1), id: "x" }),
    ]) {
      assert.throws(() => indexedMeta(json), "a row is damaged, expected the metadata")
    }
    assert.deepStrictEqual(indexedMeta(JSON.stringify(metaOf(1))), metaOf(1))
  })

  it("L13 can refer only to rollout files of the conversation, below the folders of conversations", () => {
    for (const [folder, name] of [
      ["sessions/../..", file],
      ["/etc", file],
      ["sessions/2025/09/20", "../../../../auth.json"],
      ["sessions/2025/09/20", rolloutName(idOf(2), startMs).file],
      ["archived_sessions/a", file],
    ] as const) {
      assert.throws(
        () => indexedPath(folder, name, id),
        "a row is damaged, expected the rollout file",
      )
    }
    assert.strictEqual(indexedPath("archived_sessions", file, id), `archived_sessions/${file}`)
    assert.strictEqual(indexedPath("sessions/2025/09/20", file, id), `sessions/2025/09/20/${file}`)
  })
})
