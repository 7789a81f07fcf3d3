import { ConversationStore } from "@colloquy/core/ConversationStore"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { namesFile } from "../../src/catalog/Names.ts"
import { firstRecords, idOf, metaOf } from "../support/Records.ts"
import { home, Machine } from "../support/Machine.ts"

const path = `${home}/${namesFile}`

const created = (...numbers: ReadonlyArray<number>) =>
  Effect.gen(function* () {
    const store = yield* ConversationStore
    for (const number of numbers) {
      yield* Effect.scoped(store.create(metaOf(number), firstRecords(metaOf(number))))
    }
  })

const nameOf = (number: number) =>
  Effect.gen(function* () {
    const { name } = yield* (yield* ConversationStore).metadata({ id: idOf(number) })
    return name
  })

const rename = (number: number, name: string) =>
  Effect.flatMap(ConversationStore, (store) => store.rename(idOf(number), name))

const lineOf = (number: number, name: string) =>
  `${JSON.stringify({ id: idOf(number), thread_name: name, updated_at: "2026-01-01T00:00:00Z" })}\n`

describe("the names of conversations", () => {
  it.effect("are found by later processes, and by one that runs already", () => {
    const machine = new Machine()
    return machine.run(
      Effect.gen(function* () {
        yield* created(1, 2)
        yield* rename(1, "one")
        yield* machine.run(rename(1, "one, by another process"))
        assert.strictEqual(yield* nameOf(1), "one, by another process")
        assert.isUndefined(yield* nameOf(2))
        assert.strictEqual(yield* machine.run(nameOf(1)), "one, by another process")
      }),
    )
  })

  it.effect("are read from the lines of the original program; other lines are ignored", () => {
    const machine = new Machine()
    return machine.run(
      Effect.gen(function* () {
        yield* created(1, 2, 3)
        const noName = `${JSON.stringify({ id: idOf(2), thread_name: "  ", updated_at: "" })}\n`
        const noId = `${JSON.stringify({ id: "x", thread_name: "n", updated_at: "" })}\n`
        const long = lineOf(3, "x".repeat(70_000))
        const contents = `${lineOf(1, "old")}{]\n\n[]\n${noName}${noId}${long}${lineOf(1, " new ")}`
        machine.files.put(path, contents)
        const names = yield* Effect.forEach([1, 2, 3], nameOf)
        assert.deepStrictEqual(names, ["new", undefined, undefined])
      }),
    )
  })

  it.effect("a line without its end is left alone, and the next name is a line of its own", () => {
    const machine = new Machine()
    return machine.run(
      Effect.gen(function* () {
        yield* created(1, 2)
        machine.files.put(path, `${lineOf(1, "one")}${lineOf(2, "torn").slice(0, 30)}`)
        yield* rename(2, "two")
        assert.deepStrictEqual(yield* Effect.forEach([1, 2], nameOf), ["one", "two"])
        assert.strictEqual(machine.files.text(path).split("\n").length, 4)
      }),
    )
  })

  it.effect("follow a file that was replaced by a shorter one, or removed", () => {
    const machine = new Machine()
    return machine.run(
      Effect.gen(function* () {
        yield* created(1, 2)
        yield* rename(1, "a long name of the first one")
        yield* rename(2, "two")
        assert.strictEqual(yield* nameOf(2), "two")
        machine.files.put(path, lineOf(1, "one"))
        assert.deepStrictEqual(yield* Effect.forEach([1, 2], nameOf), ["one", undefined])
        machine.files.unlink(path)
        assert.isUndefined(yield* nameOf(1))
      }),
    )
  })

  it.effect("a name that cannot be written is an error, and the earlier one stays", () => {
    const machine = new Machine()
    return machine.run(
      Effect.gen(function* () {
        yield* created(1)
        yield* rename(1, "one")
        machine.files.room = 10
        const error = yield* Effect.flip(rename(1, "another"))
        assert.deepInclude(error, { _tag: "StoreError", operation: "rename", reason: "Full" })
        machine.files.room = Infinity
        assert.strictEqual(yield* nameOf(1), "one")
        yield* rename(1, "third")
        assert.strictEqual(yield* nameOf(1), "third")
      }),
    )
  })

  it.effect("a link in place of the file is not followed", () => {
    const machine = new Machine()
    return machine.run(
      Effect.gen(function* () {
        yield* created(1)
        machine.files.put("/elsewhere", lineOf(1, "planted"))
        machine.files.link(path, "/elsewhere")
        assert.isUndefined(yield* nameOf(1))
        assert.deepInclude(yield* Effect.flip(rename(1, "mine")), { reason: "Outside" })
      }),
    )
  })
})
