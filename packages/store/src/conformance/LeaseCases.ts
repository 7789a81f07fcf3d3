/** Conformance: a conversation has at most one writer at a time (L16). */
import { ConversationStore } from "@colloquy/core/ConversationStore"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { type Behaviour, expectFailure, expectEqual } from "./Expectations.ts"
import { readAll } from "./LogCases.ts"
import { exchange, firstRecords, sampleMeta } from "./SampleRecords.ts"

const meta = sampleMeta(1)
const { id } = meta

const exclusiveWriter: Behaviour = {
  name: "L16 while a writer is open, opening, archiving and deleting fail with LeaseHeld, and reading works",
  run: Effect.gen(function* () {
    const store = yield* ConversationStore
    const writer = yield* store.create(meta, firstRecords(meta))
    const error = yield* expectFailure(
      "open while a writer is open",
      "LeaseHeld",
      Effect.scoped(store.open({ id })),
    )
    yield* expectEqual(
      "id in the LeaseHeld error",
      error._tag === "LeaseHeld" ? error.id : undefined,
      id,
    )
    yield* expectFailure("archive while a writer is open", "LeaseHeld", store.archive(id))
    yield* expectFailure("unarchive while a writer is open", "LeaseHeld", store.unarchive(id))
    yield* expectFailure("delete while a writer is open", "LeaseHeld", store.delete(id))
    yield* writer.append(exchange(1, "still there"), "synced")
    const expected = [...firstRecords(meta), ...exchange(1, "still there")]
    yield* expectEqual("records read while a writer is open", yield* readAll(id, 100), expected)
  }),
}

const increasingGenerations: Behaviour = {
  name: "L16 each later writer has a larger generation and appends behind the records of the last one",
  run: Effect.gen(function* () {
    const store = yield* ConversationStore
    const generations: Array<number> = []
    yield* Effect.scoped(
      Effect.map(store.create(meta, firstRecords(meta)), ({ generation }) => {
        generations.push(generation)
      }),
    )
    for (let round = 0; round < 3; round++) {
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { repairs, summary, writer } = yield* store.open({ id })
          yield* expectEqual("repairs of an intact log", repairs, [])
          yield* expectEqual("metadata of the opened conversation", summary.meta, meta)
          yield* writer.append(exchange(1 + 3 * round, `round ${round}`), "written")
          generations.push(writer.generation)
        }),
      )
    }
    const rising = generations.every((g, i) => i === 0 || g > (generations[i - 1] ?? g))
    yield* expectEqual("generations increase", rising, true)
    yield* expectEqual("records of all writers", yield* readAll(id, 100), [
      ...firstRecords(meta),
      ...exchange(1, "round 0"),
      ...exchange(4, "round 1"),
      ...exchange(7, "round 2"),
    ])
  }),
}

const releasedWriter: Behaviour = {
  name: "L16 a writer whose lease was released appends nothing",
  run: Effect.gen(function* () {
    const store = yield* ConversationStore
    const scope = yield* Scope.make()
    const stale = yield* Scope.provide(store.create(meta, firstRecords(meta)), scope)
    yield* Scope.close(scope, Exit.void)
    yield* expectFailure(
      "append after release, while there is no other writer",
      "LeaseLost",
      stale.append(exchange(1, "late"), "synced"),
    )
    const { writer } = yield* store.open({ id })
    yield* expectFailure(
      "append after release, while there is another writer",
      "LeaseLost",
      stale.append(exchange(1, "late"), "synced"),
    )
    yield* writer.append(exchange(1, "in time"), "synced")
    const expected = [...firstRecords(meta), ...exchange(1, "in time")]
    yield* expectEqual(
      "records of the writer that holds the lease",
      yield* readAll(id, 100),
      expected,
    )
  }),
}

const concurrentOpens: Behaviour = {
  name: "L16 exactly one of many concurrent attempts to open a conversation succeeds",
  run: Effect.gen(function* () {
    const store = yield* ConversationStore
    yield* Effect.scoped(store.create(meta, firstRecords(meta)))
    const exits = yield* Effect.forEach(
      Array.from({ length: 8 }),
      () => Effect.exit(store.open({ id })),
      { concurrency: "unbounded" },
    )
    yield* expectEqual("number of successful attempts", exits.filter(Exit.isSuccess).length, 1)
  }),
}

const revisions: Behaviour = {
  name: "L10 an archive, an unarchive or a removal with a revision from before another change does nothing and fails with LeaseHeld, if the store has revisions",
  run: Effect.gen(function* () {
    const store = yield* ConversationStore
    const created = Effect.scoped(store.create(meta, firstRecords(meta)))
    const summary = store.metadata({ id })
    yield* created
    const { revision: first } = yield* summary
    if (first === undefined) return
    const isRefused = (what: string, call: Effect.Effect<void, { readonly _tag: string }>) =>
      expectFailure(`${what} with an old revision`, "LeaseHeld", call)
    yield* store.archive(id, first)
    const { revision: second = "" } = yield* summary
    yield* store.unarchive(id, second)
    yield* isRefused("archive after an archive and an unarchive", store.archive(id, first))
    yield* isRefused("removal after an unarchive", store.delete(id, second))
    yield* expectEqual("archived after the refusals", (yield* summary).archived, false)
    const { revision: third = "" } = yield* summary
    yield* Effect.scoped(store.open({ id }))
    yield* isRefused("archive after an opening", store.archive(id, third))
    yield* store.archive(id)
    yield* isRefused("unarchive after an archive", store.unarchive(id, third))
    yield* isRefused("removal after an archive", store.delete(id, third))
    yield* expectEqual("archived after an archive", (yield* summary).archived, true)
    const { revision: last = "" } = yield* summary
    yield* store.delete(id, last)
    yield* created
    for (const revision of [first, second, third, last]) {
      yield* isRefused("archive after a removal", store.archive(id, revision))
      yield* isRefused("removal after a removal", store.delete(id, revision))
    }
    yield* expectEqual("archived when created again", (yield* summary).archived, false)
  }),
}

/** The cases about writers and their leases. */
export const leaseCases: ReadonlyArray<Behaviour> = [
  revisions,
  exclusiveWriter,
  increasingGenerations,
  releasedWriter,
  concurrentOpens,
]
