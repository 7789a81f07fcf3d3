import { ConversationStore } from "@colloquy/core/ConversationStore"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Files } from "../../src/Files.ts"
import { recoverRollout } from "../../src/rollout/RolloutRecovery.ts"
import { metaOf, firstRecords, turn } from "../support/Records.ts"
import { home, Machine, readAll } from "../support/Machine.ts"

const meta = metaOf(1)
const { id } = meta
const records = [...firstRecords(meta), ...turn(1, "0", "hällo 🙂", "out ".repeat(50))]

const create = Effect.flatMap(ConversationStore, (store) => store.create(meta, records))
const open = Effect.flatMap(ConversationStore, (store) => store.open({ id }))

const machineWith = Effect.fnUntraced(function* (change: (bytes: Uint8Array) => Uint8Array) {
  const machine = new Machine()
  yield* machine.run(create)
  const { file } = machine
  const bytes = change(machine.files.bytes(file) ?? new Uint8Array(0))
  machine.files.unlink(file)
  machine.files.put(file, bytes)
  return machine
})

const newline = 0x0a

const withZeros = (bytes: Uint8Array, count: number) => {
  const more = new Uint8Array(bytes.length + count)
  more.set(bytes)
  return more
}

/**
 * The repairs of opening the file and the records read then. Checks that opening it again repairs
 * nothing.
 */
const repaired = Effect.fnUntraced(function* (machine: Machine) {
  const { repairs, found } = yield* machine.run(
    Effect.gen(function* () {
      const { repairs } = yield* open
      return { repairs: repairs.map(({ kind }) => kind), found: yield* readAll(id) }
    }),
  )
  assert.strictEqual(machine.files.bytes(machine.file)?.at(-1), newline)
  const again = yield* machine.run(
    Effect.gen(function* () {
      const { repairs } = yield* open
      return { repairs, found: yield* readAll(id) }
    }),
  )
  // Without an index entry for the check, a bad line is reported again; a repaired end stays
  // repaired.
  const torn = again.repairs.filter(({ kind }) => kind !== "bad_line_skipped")
  assert.deepStrictEqual({ repairs: torn, found: again.found }, { repairs: [], found })
  return { repairs, found }
})

describe("a file that a crash left", () => {
  it.effect(
    "L11 at any byte keeps its whole lines, is cut or completed, and can be continued",
    () =>
      Effect.gen(function* () {
        const whole = yield* machineWith((bytes) => bytes)
        const bytes = whole.files.bytes(whole.file) ?? new Uint8Array(0)
        const headerEnd = bytes.indexOf(newline, bytes.indexOf(newline) + 1) + 1
        for (let length = headerEnd; length <= bytes.length; length++) {
          const isNearEnd = [-1, 0, 1].some((by) => bytes[length + by] === newline)
          if (!isNearEnd && length % 17 !== 0) continue
          const ends = bytes[length - 1] === newline
          const completes = !ends && bytes[length] === newline
          const machine = yield* machineWith((all) => all.slice(0, length))
          const { repairs, found } = yield* repaired(machine)
          assert.deepStrictEqual(
            repairs,
            ends ? [] : completes ? ["torn_tail_completed"] : ["torn_tail_cut"],
            `cut at ${length}`,
          )
          assert.deepStrictEqual(found, records.slice(0, found.length), `cut at ${length}`)
          if (length === bytes.length) assert.strictEqual(found.length, records.length)
          if (length % 5 !== 0) continue
          const seq = found.filter((record) => record._tag === "Event").length
          const more = turn(seq, "7", "on")
          yield* machine.run(Effect.flatMap(open, ({ writer }) => writer.append(more, "synced")))
          assert.deepStrictEqual(yield* machine.run(readAll(id)), [...found, ...more])
        }
      }),
  )

  it.effect("L11 with zeros at its end loses only the zeros", () =>
    Effect.gen(function* () {
      for (const count of [1, 100, 70_000]) {
        const behind = yield* repaired(yield* machineWith((bytes) => withZeros(bytes, count)))
        assert.deepStrictEqual(behind, { repairs: ["torn_tail_cut"], found: records })
        const inside = yield* machineWith((bytes) =>
          withZeros(bytes.subarray(0, bytes.length - 1), count),
        )
        assert.deepStrictEqual(yield* repaired(inside), {
          repairs: ["torn_tail_completed"],
          found: records,
        })
      }
    }),
  )

  it.effect(
    "whose last line lacks its newline loses that line when the disk has no room for one byte",
    () =>
      Effect.gen(function* () {
        const machine = yield* machineWith((bytes) => bytes.subarray(0, bytes.length - 1))
        machine.files.room = 0
        const error = yield* Effect.flip(machine.run(open))
        assert.strictEqual(error._tag, "StoreError")
        machine.files.room = Infinity
        const { found } = yield* repaired(machine)
        assert.deepStrictEqual(found, records)
      }),
  )

  it.effect("with a bad inner line reports it once, with its offset, and the rest is read", () =>
    Effect.gen(function* () {
      const machine = yield* machineWith((bytes) => {
        const text = new TextDecoder().decode(bytes)
        const lines = text.split("\n")
        return new TextEncoder().encode(lines.with(7, '{"secret":').join("\n"))
      })
      const { found, repairs } = yield* machine.run(
        Effect.gen(function* () {
          const { repairs } = yield* open
          return { repairs, found: yield* readAll(id) }
        }),
      )
      assert.deepStrictEqual(
        repairs.map(({ kind }) => kind),
        ["bad_line_skipped"],
      )
      assert.match(repairs[0]?.message ?? "", /^the line at offset \d+ cannot be read/)
      assert.strictEqual(found.length, records.length)
      const lost = found.flatMap((record, i) =>
        record._tag === "Event" && record.event.msg.type === "warning" ? [i] : [],
      )
      assert.strictEqual(lost.length, 1)
    }),
  )

  it.effect("with invalid UTF-8 loses only that line", () =>
    Effect.gen(function* () {
      const machine = yield* machineWith((bytes) => {
        const spoilt = bytes.slice()
        spoilt[bytes.length - 10] = 0xff
        return spoilt
      })
      const { found, repairs } = yield* repaired(machine)
      assert.deepStrictEqual(repairs, ["bad_line_skipped"])
      assert.deepStrictEqual(found, records.slice(0, -1))
    }),
  )

  it.effect("shows only whole lines to a reader while its last line is being written", () =>
    Effect.gen(function* () {
      const machine = yield* machineWith((bytes) => bytes.subarray(0, bytes.length - 5))
      assert.deepStrictEqual(yield* machine.run(readAll(id)), records.slice(0, -1))
    }),
  )

  it.effect("with many bad lines reports their number instead of each one", () =>
    Effect.gen(function* () {
      const machine = yield* machineWith((bytes) => {
        const text = new TextDecoder().decode(bytes)
        return new TextEncoder().encode(text + "bad\n".repeat(1000))
      })
      const { repairs } = yield* machine.run(open)
      assert.strictEqual(repairs.length, 21)
      assert.include(repairs.at(-1)?.message, "980 more lines")
    }),
  )
})

describe("a long file that a crash left", () => {
  it.effect("is found and opened however long its instructions are", () =>
    Effect.gen(function* () {
      const machine = new Machine()
      const meta = metaOf(1, { instructions: "be kind ".repeat(300_000) })
      yield* machine.run(
        Effect.flatMap(ConversationStore, (store) => store.create(meta, firstRecords(meta))),
      )
      const found = yield* machine.run(
        Effect.gen(function* () {
          const store = yield* ConversationStore
          const { items } = yield* store.list({ limit: 5 })
          const { summary } = yield* store.open({ id: meta.id })
          return [items.length, summary.meta.instructions?.length]
        }),
      )
      assert.deepStrictEqual(found, [1, 2_400_000])
    }),
  )

  it.effect("L11 is checked only near its end, and is continued with the right number", () =>
    Effect.gen(function* () {
      const machine = new Machine()
      const turns = Array.from({ length: 200 }, (_, i) => turn(1 + 10 * i, String(i), `words ${i}`))
      const meta = metaOf(1)
      yield* machine.run(
        Effect.flatMap(ConversationStore, (store) =>
          store.create(meta, [...firstRecords(meta), ...turns.flat()]),
        ),
      )
      const { file, files } = machine
      const text = files.text(file)
      const lines = text.split("\n")
      // One bad line before the checked part, one inside it, and half a line at the end.
      const spoilt =
        lines
          .with(50, "{bad")
          .with(lines.length - 5, "{bad")
          .join("\n") + '{"half'
      files.unlink(file)
      files.put(file, spoilt)
      const path = file.slice(home.length + 1)
      const { checked, repairs } = yield* Effect.gen(function* () {
        const store = yield* Files
        const handle = yield* store.open(file, "write")
        const located = { id: meta.id, path, archived: false, by: "path" } as const
        return yield* recoverRollout(handle, located, undefined, 20_000)
      }).pipe(Effect.scoped, Effect.provide(files.layer))
      assert.deepStrictEqual(
        repairs.map(({ kind }) => kind),
        ["torn_tail_cut", "bad_line_skipped"],
      )
      assert.deepStrictEqual(checked.numbering, { seq: 2001, id: "199" })
    }),
  )
})
