import { ConversationStore } from "@colloquy/core/ConversationStore"
import { StoreError } from "@colloquy/core/StoreErrors"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import type { Operation } from "./support/MemoryFiles.ts"
import { idOf, metaOf, firstRecords, turn } from "./support/Records.ts"
import { home, Machine, readAll } from "./support/Machine.ts"

const meta = metaOf(1)
const { id } = meta
const first = firstRecords(meta)

const create = Effect.flatMap(ConversationStore, (store) => store.create(meta, first))
const open = Effect.flatMap(ConversationStore, (store) => store.open({ id }))

/** A machine on which the conversation is stored and no process runs. */
const stored = Effect.fnUntraced(function* (options = {}) {
  const machine = new Machine(options)
  yield* machine.run(create)
  return machine
})

const reasonOf = (error: unknown) => (error instanceof StoreError ? error.reason : error)

describe("creating a conversation", () => {
  it.effect("L10 has put the file and its folders on the disk when it returns", () =>
    Effect.gen(function* () {
      const machine = new Machine()
      yield* machine.run(
        Effect.gen(function* () {
          yield* create
          machine.files.powerCut()
        }),
      )
      machine.leases.killAll()
      assert.strictEqual(
        machine.file,
        `${home}/sessions/2025/09/20/rollout-2025-09-20T10-11-12-${id}.jsonl`,
        "in local time",
      )
      assert.deepStrictEqual(yield* machine.run(readAll(id)), first)
    }),
  )

  const refusals: ReadonlyArray<readonly [Operation, string, StoreError["reason"]]> = [
    ["makeDirectory", "EACCES", "Denied"],
    ["makeDirectory", "EROFS", "Denied"],
    ["create", "EACCES", "Denied"],
    ["create", "EEXIST", "Exists"],
    ["create", "ENOSPC", "Full"],
    ["write", "EIO", "Other"],
    ["write", "EDQUOT", "Full"],
    ["sync", "EIO", "Other"],
    ["syncDirectory", "EIO", "Other"],
  ]
  for (const [operation, code, reason] of refusals) {
    it.effect(`leaves nothing and keeps the id free when ${operation} fails with ${code}`, () =>
      Effect.gen(function* () {
        const machine = new Machine()
        machine.files.fault = (each, path) =>
          each === operation && path.startsWith(`${home}/sessions`) ? code : undefined
        const error = yield* Effect.flip(machine.run(create))
        assert.strictEqual(reasonOf(error), reason)
        assert.include(error.message, code)
        assert.deepStrictEqual(machine.files.files(), [])
        machine.files.fault = () => undefined
        yield* machine.run(create)
        assert.deepStrictEqual(yield* machine.run(readAll(id)), first)
      }),
    )
  }

  it.effect("L10 leaves nothing when the disk becomes full at any byte", () =>
    Effect.gen(function* () {
      const { file, files } = yield* stored()
      const bytes = files.bytes(file)?.length ?? 0
      for (let room = 0; room < bytes; room += 37) {
        const machine = new Machine()
        machine.files.room = room
        assert.strictEqual(reasonOf(yield* Effect.flip(machine.run(create))), "Full")
        assert.deepStrictEqual(machine.files.files(), [])
      }
    }),
  )
})

describe("a conversation whose first records have a line that no reader accepts", () => {
  it.effect("L11 is not created, and leaves nothing", () =>
    Effect.gen(function* () {
      const machine = new Machine({ maxLineBytes: 5000 })
      const long = [...first, ...turn(1, "0", "long ".repeat(2000))]
      const error = yield* machine.run(
        Effect.flatMap(ConversationStore, (store) => Effect.flip(store.create(meta, long))),
      )
      assert.deepStrictEqual([error.operation, error.reason], ["create", "Other"])
      assert.include(error.message, "5000 bytes")
      assert.deepStrictEqual(machine.files.files(), [])
      yield* machine.run(create)
    }),
  )
})

describe("an append", () => {
  const batch = turn(1, "0", "hello")

  it.effect("fails without touching the file where it takes longer than the end of its lease", () =>
    Effect.gen(function* () {
      const machine = yield* stored()
      const { files } = machine
      const scope = yield* Scope.make()
      const answered = yield* Deferred.make<void>()
      yield* Effect.gen(function* () {
        const { writer } = yield* Scope.provide(open, scope)
        files.pause = (operation) =>
          operation === "write" ? Deferred.await(answered) : Effect.void
        const appending = yield* Effect.forkDetach(Effect.flip(writer.append(batch, "synced")), {
          startImmediately: true,
        })
        const closing = yield* Effect.forkDetach(Scope.close(scope, Exit.void), {
          startImmediately: true,
        })
        yield* TestClock.adjust("4 seconds")
        assert.isUndefined(closing.pollUnsafe())
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(closing.pollUnsafe(), Exit.void)
        files.fault = (operation) =>
          operation === "sync" || operation === "truncate" ? "EBADF" : undefined
        yield* Deferred.succeed(answered, undefined)
        assert.include((yield* Fiber.join(appending)).message, "EBADF")
        assert.notInclude(files.done.slice(-2).join(), "truncate")
      }).pipe(Effect.provide(Layer.fresh(machine.layer)))
    }),
  )

  it.effect("L11 leaves no part of a batch when the disk becomes full at any byte", () =>
    Effect.gen(function* () {
      const machine = yield* stored()
      const before = machine.files.text(machine.file)
      for (let room = 0; room < 1800; room += 41) {
        machine.files.room = room
        const error = yield* machine.run(
          Effect.flatMap(open, ({ writer }) =>
            Effect.gen(function* () {
              const error = yield* Effect.flip(writer.append(batch, "written"))
              assert.strictEqual(machine.files.text(machine.file), before, `room for ${room}`)
              // The writer stays failed; the log must be opened again, even when there is room
              // again.
              machine.files.room = Infinity
              const again = yield* Effect.flip(writer.append(batch, "written"))
              assert.include(again.message, "an earlier append failed")
              return error
            }),
          ),
        )
        assert.strictEqual(reasonOf(error), "Full")
      }
      machine.files.room = Infinity
      yield* machine.run(Effect.flatMap(open, ({ writer }) => writer.append(batch, "written")))
      assert.deepStrictEqual(yield* machine.run(readAll(id)), [...first, ...batch])
    }),
  )

  it.effect("continues after a write that stopped short", () =>
    Effect.gen(function* () {
      const machine = yield* stored()
      const piece = 10
      yield* machine.run(
        Effect.gen(function* () {
          const { writer } = yield* open
          machine.files.fault = (operation) => {
            if (operation === "write") machine.files.room = piece
            return undefined
          }
          yield* writer.append(batch, "synced")
        }),
      )
      assert.deepStrictEqual(yield* machine.run(readAll(id)), [...first, ...batch])
    }),
  )

  it.effect("is removed from the file when it cannot be synced", () =>
    Effect.gen(function* () {
      const machine = yield* stored()
      const before = machine.files.text(machine.file)
      yield* machine.run(
        Effect.gen(function* () {
          const { writer } = yield* open
          let failures = 1
          machine.files.fault = (operation) =>
            operation === "sync" && failures-- > 0 ? "EIO" : undefined
          assert.strictEqual(reasonOf(yield* Effect.flip(writer.append(batch, "synced"))), "Other")
          assert.strictEqual(machine.files.text(machine.file), before)
        }),
      )
    }),
  )

  it.effect("that could not be removed at once is removed when the writer closes", () =>
    Effect.gen(function* () {
      const machine = yield* stored()
      const before = machine.files.text(machine.file)
      yield* machine.run(
        Effect.gen(function* () {
          const { writer } = yield* open
          machine.files.room = 100
          machine.files.fault = (operation) => (operation === "truncate" ? "EIO" : undefined)
          yield* Effect.flip(writer.append(batch, "written"))
          assert.notStrictEqual(machine.files.text(machine.file), before)
          machine.files.fault = () => undefined
        }),
      )
      assert.strictEqual(machine.files.text(machine.file), before)
    }),
  )

  it.effect(
    "L10 survives a power failure when it was synced; otherwise only its own conversation is affected",
    () =>
      Effect.gen(function* () {
        for (const durability of ["written", "synced"] as const) {
          const machine = yield* stored()
          yield* machine.run(
            Effect.gen(function* () {
              const { writer } = yield* open
              yield* writer.append(batch, durability)
              machine.files.powerCut()
            }),
          )
          const expected = durability === "synced" ? [...first, ...batch] : first
          assert.deepStrictEqual(yield* machine.run(readAll(id)), expected)
        }
      }),
  )

  it.effect("writes nothing to a file that was removed, replaced or changed", () =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<readonly [(machine: Machine, file: string) => void, string]> = [
        [({ files }, file) => files.unlink(file), "Gone"],
        [
          ({ files }, file) => {
            const text = files.text(file)
            files.unlink(file)
            files.put(file, text)
          },
          "Gone",
        ],
        [({ files }, file) => files.put(file, `${files.text(file)}{}\n`), "Gone"],
      ]
      for (const [meddle, reason] of cases) {
        const machine = yield* stored()
        const { file } = machine
        yield* machine.run(
          Effect.gen(function* () {
            const { writer } = yield* open
            meddle(machine, file)
            const after = machine.files.text(file)
            const error = yield* Effect.flip(writer.append(batch, "written"))
            assert.strictEqual(reasonOf(error), reason)
            assert.strictEqual(machine.files.text(file), after)
          }),
        )
      }
    }),
  )

  it.effect("L16 writes nothing after a line that another program wrote without a lease", () =>
    Effect.gen(function* () {
      const machine = yield* stored()
      yield* machine.run(
        Effect.gen(function* () {
          const { writer } = yield* open
          const handle = machine.files.bytes(machine.file)
          assert.isDefined(handle)
          machine.files.append(machine.file, '{"by":"another"}\n')
          const after = machine.files.text(machine.file)
          const error = yield* Effect.flip(writer.append(batch, "written"))
          assert.strictEqual(error._tag, "LeaseLost")
          assert.strictEqual(machine.files.text(machine.file), after)
        }),
      )
    }),
  )

  it.effect("L16 writes nothing once another process has the lease", () =>
    Effect.gen(function* () {
      const machine = yield* stored()
      const before = machine.files.text(machine.file)
      yield* machine.run(
        Effect.gen(function* () {
          const { writer } = yield* open
          machine.leases.steal(id)
          const error = yield* Effect.flip(writer.append(batch, "written"))
          assert.strictEqual(error._tag, "LeaseLost")
        }),
      )
      assert.strictEqual(machine.files.text(machine.file), before)
    }),
  )

  it.effect("beyond a limit fails with the limit and loses nothing", () =>
    Effect.gen(function* () {
      for (const [options, limit, max] of [
        [{ maxEvents: 15 }, "events", 15],
        [{ maxBytes: 4000 }, "bytes", 4000],
        [{ maxLineBytes: 500 }, "bytes", 500],
      ] as const) {
        const machine = yield* stored(options)
        yield* machine.run(
          Effect.gen(function* () {
            const { writer } = yield* open
            yield* writer.append(batch, "written")
            const error = yield* Effect.flip(
              writer.append(turn(11, "1", "again ".repeat(100)), "written"),
            )
            assert.deepStrictEqual(
              error._tag === "StoreLimit" ? [error.limit, error.max, error.id] : error,
              [limit, max, id],
            )
          }),
        )
        assert.deepStrictEqual(yield* machine.run(readAll(id)), [...first, ...batch])
      }
    }),
  )

  it.effect("with a clock that was set back changes neither the order nor existing records", () =>
    Effect.gen(function* () {
      const machine = yield* stored()
      const late = turn(11, "1", "late").map((record) => ({ ...record, atMs: 1000 }))
      yield* machine.run(
        Effect.gen(function* () {
          const { writer } = yield* open
          yield* writer.append(batch, "written")
          yield* writer.append(late, "synced")
        }),
      )
      assert.deepStrictEqual(yield* machine.run(readAll(id)), [...first, ...batch, ...late])
      const { items } = yield* machine.run(
        Effect.flatMap(ConversationStore, (store) => store.list({ limit: 5 })),
      )
      assert.deepStrictEqual(
        items.map((item) => [item.meta.createdAtMs, item.updatedAtMs]),
        [[meta.createdAtMs, 1000]],
      )
    }),
  )

  it.effect("of an event with the wrong number is refused, because numbers have no gap", () =>
    Effect.gen(function* () {
      const machine = yield* stored()
      const error = yield* machine.run(
        Effect.flatMap(open, ({ writer }) =>
          Effect.flip(writer.append(turn(3, "0", "x"), "written")),
        ),
      )
      assert.include(error.message, "expected event 1, got event 3")
    }),
  )
})

describe("opening a conversation", () => {
  it.effect("fails with a typed error when a permission is missing, and releases the lease", () =>
    Effect.gen(function* () {
      for (const code of ["EACCES", "EROFS", "EPERM"]) {
        const machine = yield* stored()
        machine.files.fault = (operation) => (operation === "open" ? code : undefined)
        yield* machine.run(
          Effect.gen(function* () {
            assert.strictEqual(reasonOf(yield* Effect.flip(open)), "Denied")
            machine.files.fault = () => undefined
            yield* open
          }),
        )
      }
    }),
  )

  const paths: ReadonlyArray<readonly [name: string, path: string, reason: string]> = [
    ["outside", "/elsewhere/rollout.jsonl", "Outside"],
    ["above the folder", `${home}/sessions/../config.toml`, "Outside"],
    ["beside the folder", `${home}/config.toml`, "Outside"],
    ["relative", "sessions/x.jsonl", "Outside"],
    ["a link", `${home}/sessions/link.jsonl`, "Outside"],
    ["behind a link", `${home}/sessions/far/rollout.jsonl`, "Outside"],
    ["a directory", `${home}/sessions/2025`, "Outside"],
    ["wrongly named", `${home}/sessions/notes.jsonl`, "Foreign"],
  ]
  for (const [name, path, reason] of paths) {
    it.effect(`refuses a path that is ${name}`, () =>
      Effect.gen(function* () {
        const machine = yield* stored()
        const { file, files } = machine
        files.put("/elsewhere/rollout.jsonl", files.text(file))
        files.put(`${home}/config.toml`, "x = 1")
        files.put(`${home}/sessions/notes.jsonl`, files.text(file))
        files.link(`${home}/sessions/link.jsonl`, file)
        files.link(`${home}/sessions/far`, "/elsewhere")
        const text = files.files().map((each) => files.text(each))
        const error = yield* machine.run(
          Effect.flatMap(ConversationStore, (store) => Effect.flip(store.open({ path }))),
        )
        assert.strictEqual(reasonOf(error), reason)
        assert.deepStrictEqual(
          files.files().map((each) => files.text(each)),
          text,
        )
      }),
    )
  }

  const elsewhere = ["/elsewhere/rollout.jsonl", "/elsewhere/none.jsonl", "/none/x", "/elsewhere"]
  for (const code of ["EACCES", "ELOOP", "ENAMETOOLONG", "ENOENT", undefined]) {
    it.effect(
      `L13 refuses every path outside the directory with one error that names the directory, whatever exists there (${code ?? "no fault"})`,
      () =>
        Effect.gen(function* () {
          const machine = yield* stored()
          const { file, files } = machine
          files.put("/elsewhere/rollout.jsonl", files.text(file))
          files.fault = (operation, path) =>
            operation !== "open" && !path.startsWith(home) ? code : undefined
          const refusals = yield* machine.run(
            Effect.flatMap(ConversationStore, (store) =>
              Effect.forEach(elsewhere, (path) => Effect.flip(store.metadata({ path }))),
            ),
          )
          assert.deepStrictEqual(
            refusals.map((error) => [reasonOf(error), error.message]),
            elsewhere.map(() => [
              "Outside",
              `expected the absolute path of a rollout file in ${home}/sessions`,
            ]),
          )
        }),
    )
  }

  it.effect("by the path of a missing file fails with NoSuchConversation", () =>
    Effect.gen(function* () {
      const machine = yield* stored()
      const error = yield* machine.run(
        Effect.flatMap(ConversationStore, (store) =>
          Effect.flip(store.open({ path: `${home}/sessions/none.jsonl` })),
        ),
      )
      assert.strictEqual(error._tag, "NoSuchConversation")
    }),
  )

  it.effect("by path finds it, archived or not, also when the folder itself is a link", () =>
    Effect.gen(function* () {
      const machine = yield* stored()
      const { file } = machine
      const byPath = (path: string) =>
        machine.run(
          Effect.flatMap(ConversationStore, (store) =>
            Effect.map(store.open({ path }), ({ summary }) => [summary.meta.id, summary.archived]),
          ),
        )
      assert.deepStrictEqual(yield* byPath(file), [id, false])
      yield* machine.run(Effect.flatMap(ConversationStore, (store) => store.archive(id)))
      assert.deepStrictEqual(yield* byPath(machine.file), [id, true])
      assert.strictEqual(
        machine.file,
        `${home}/archived_sessions/rollout-2025-09-20T10-11-12-${id}.jsonl`,
      )
    }),
  )

  it.effect(
    "leaves a file unchanged that is not a rollout or belongs to another conversation",
    () =>
      Effect.gen(function* () {
        const machine = yield* stored()
        const { file, files } = machine
        const other = file.replace(id, idOf(2))
        for (const text of [
          "",
          "half a li",
          "no rollout\n",
          '{"a":1}\n{"b":2}',
          files.text(file),
          `\u0000\u0000\n${files.text(file)}`,
        ]) {
          files.put(other, text)
          const error = yield* machine.run(
            Effect.flatMap(ConversationStore, (store) => Effect.flip(store.open({ path: other }))),
          )
          assert.strictEqual(reasonOf(error), "Foreign", text.slice(0, 20))
          assert.strictEqual(files.text(other), text)
          const unlisted = yield* machine.run(
            Effect.flatMap(ConversationStore, (store) => store.list({ limit: 5 })),
          )
          assert.deepStrictEqual(
            unlisted.items.map((item) => item.meta.id),
            [id],
          )
          files.unlink(other)
        }
      }),
  )
})
