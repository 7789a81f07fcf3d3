/** Conformance: one writer at a time (L16). */
import { ConversationStore } from "@colloquy/core/ConversationStore"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { type Behaviour, expectFailure, expectEqual } from "./Expectations.ts"
import { readAll } from "./LogCases.ts"
import { exchange, firstRecords, sampleMeta } from "./SampleRecords.ts"

const meta = sampleMeta(1)
const { id } = meta

export const leaseCases: ReadonlyArray<Behaviour> = [
  {
    name: "L16 while one writes nobody else opens, archives or deletes, but anybody reads",
    run: Effect.gen(function* () {
      const store = yield* ConversationStore
      const writer = yield* store.create(meta, firstRecords(meta))
      const error = yield* expectFailure("open", "LeaseHeld", Effect.scoped(store.open({ id })))
      yield* expectEqual("of which", error._tag === "LeaseHeld" ? error.id : undefined, id)
      yield* expectFailure("archive", "LeaseHeld", store.archive(id))
      yield* expectFailure("unarchive", "LeaseHeld", store.unarchive(id))
      yield* expectFailure("delete", "LeaseHeld", store.delete(id))
      yield* writer.append(exchange(1, "still there"), "synced")
      const expected = [...firstRecords(meta), ...exchange(1, "still there")]
      yield* expectEqual("read", yield* readAll(id, 100), expected)
    }),
  },
  {
    name: "L16 the next writer has a larger generation and goes on where the last one ended",
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
            yield* expectEqual("nothing to repair", repairs, [])
            yield* expectEqual("the metadata", summary.meta, meta)
            yield* writer.append(exchange(1 + 3 * round, `round ${round}`), "written")
            generations.push(writer.generation)
          }),
        )
      }
      const rising = generations.every((g, i) => i === 0 || g > (generations[i - 1] ?? g))
      yield* expectEqual("rising generations", rising, true)
      yield* expectEqual("the log", yield* readAll(id, 100), [
        ...firstRecords(meta),
        ...exchange(1, "round 0"),
        ...exchange(4, "round 1"),
        ...exchange(7, "round 2"),
      ])
    }),
  },
  {
    name: "L16 a writer whose lease is over appends nothing",
    run: Effect.gen(function* () {
      const store = yield* ConversationStore
      const scope = yield* Scope.make()
      const stale = yield* Scope.provide(store.create(meta, firstRecords(meta)), scope)
      yield* Scope.close(scope, Exit.void)
      yield* expectFailure("alone", "LeaseLost", stale.append(exchange(1, "late"), "synced"))
      const { writer } = yield* store.open({ id })
      yield* expectFailure(
        "beside another",
        "LeaseLost",
        stale.append(exchange(1, "late"), "synced"),
      )
      yield* writer.append(exchange(1, "in time"), "synced")
      const expected = [...firstRecords(meta), ...exchange(1, "in time")]
      yield* expectEqual("the log", yield* readAll(id, 100), expected)
    }),
  },
  {
    name: "L16 of many who open at once one gets it",
    run: Effect.gen(function* () {
      const store = yield* ConversationStore
      yield* Effect.scoped(store.create(meta, firstRecords(meta)))
      const exits = yield* Effect.forEach(
        Array.from({ length: 8 }),
        () => Effect.exit(store.open({ id })),
        { concurrency: "unbounded" },
      )
      yield* expectEqual("openers", exits.filter(Exit.isSuccess).length, 1)
    }),
  },
]
