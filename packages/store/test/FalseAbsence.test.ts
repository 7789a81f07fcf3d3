import { ConversationStore } from "@colloquy/core/ConversationStore"
import { eventRecord } from "@colloquy/core/LogRecord"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { FileFault } from "../src/Files.ts"
import { metaOf, firstRecords } from "./support/Records.ts"
import { Machine } from "./support/Machine.ts"

const meta = metaOf(1)
const { id } = meta

const codes = ["EMFILE", "ENFILE", "EIO", "EACCES", "ESTALE", "EINTR"]

/** Codes that mean that the machine is short of a resource, not that the file is at fault. */
const scarce = ["EMFILE", "ENFILE", "EINTR"]

/**
 * More operations than any use performs, so that a fault is injected at each of them and after the
 * last.
 */
const maxOperations = 40

type Use = (
  path: string,
) => Effect.Effect<
  ReadonlyArray<string>,
  { readonly _tag: string },
  ConversationStore | Scope.Scope
>

const uses: Readonly<Record<string, Use>> = {
  "metadata by id": () =>
    Effect.flatMap(ConversationStore, (store) =>
      Effect.map(store.metadata({ id }), (found) => [found.meta.id]),
    ),
  "metadata by path": (path) =>
    Effect.flatMap(ConversationStore, (store) =>
      Effect.map(store.metadata({ path }), (found) => [found.meta.id]),
    ),
  "open by id": () =>
    Effect.flatMap(ConversationStore, (store) =>
      Effect.map(store.open({ id }), ({ summary }) => [summary.meta.id]),
    ),
  "open by path": (path) =>
    Effect.flatMap(ConversationStore, (store) =>
      Effect.map(store.open({ path }), ({ summary }) => [summary.meta.id]),
    ),
  read: () =>
    Effect.flatMap(ConversationStore, (store) =>
      Effect.map(store.read(id, { max: 10 }), ({ records }) =>
        records.length === firstRecords(meta).length ? [id] : [],
      ),
    ),
  list: () =>
    Effect.flatMap(ConversationStore, (store) =>
      Effect.map(store.list({ limit: 5 }), ({ items }) => items.map((item) => item.meta.id)),
    ),
  "list twice": () =>
    Effect.flatMap(ConversationStore, (store) =>
      Effect.andThen(
        Effect.ignore(store.list({ limit: 5 })),
        Effect.map(store.list({ limit: 5 }), ({ items }) => items.map((item) => item.meta.id)),
      ),
    ),
}

/**
 * An existing conversation is found, or its use fails with the system's reason; it is never
 * reported as missing.
 */
describe("a conversation that exists", () => {
  for (const [name, use] of Object.entries(uses)) {
    // A list leaves out a file that cannot be read, and the next list tries again.
    for (const code of name === "list" ? codes.filter((one) => scarce.includes(one)) : codes) {
      it.effect(
        `L13 is not reported as missing by ${name}, whichever operation fails with ${code}`,
        () =>
          Effect.gen(function* () {
            for (let at = 0; at < maxOperations; at++) {
              const machine = new Machine()
              yield* machine.run(
                Effect.flatMap(ConversationStore, (store) =>
                  store.create(meta, firstRecords(meta)),
                ),
              )
              machine.leases.killAll()
              let count = 0
              machine.files.fault = () => (count++ === at ? code : undefined)
              const running = yield* Effect.forkChild(
                Effect.result(machine.run(use(machine.file))),
                { startImmediately: true },
              )
              yield* TestClock.adjust("2 seconds")
              const done = yield* Fiber.join(running)
              if (done._tag === "Success") assert.deepStrictEqual(done.success, [id], `at ${at}`)
              else assert.strictEqual(done.failure._tag, "StoreError", `at ${at}`)
            }
          }),
      )
    }
  }
})

describe("a writer that cannot check its lease", () => {
  const words = eventRecord(0, { seq: 1, id: "0", msg: { type: "agent_message", message: "one" } })

  for (const code of ["EMFILE", "ENFILE", "EIO", "EACCES", "ESTALE"]) {
    it.effect(`L16 appends nothing and keeps its lease, when the check fails with ${code}`, () =>
      Effect.gen(function* () {
        const machine = new Machine()
        yield* machine.run(
          Effect.gen(function* () {
            const store = yield* ConversationStore
            const writer = yield* store.create(meta, firstRecords(meta))
            const before = machine.files.bytes(machine.file)
            machine.leases.fault = new FileFault({ operation: "read", path: "lease", code })
            const error = yield* Effect.flip(writer.append([words], "synced"))
            assert.strictEqual(error._tag, "StoreError")
            assert.include(error.message, code)
            assert.deepStrictEqual(machine.files.bytes(machine.file), before)
            machine.leases.fault = undefined
            yield* writer.append([words], "synced")
          }),
        )
      }),
    )
  }
})
