/** Conformance of stores that outlive their process: another one finds everything. */
import { ConversationStore } from "@colloquy/core/ConversationStore"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { expectEqual } from "./Expectations.ts"
import { readAll } from "./LogCases.ts"
import { exchange, fullTurn, firstRecords, sampleMeta } from "./SampleRecords.ts"

/** Runs in a process of its own, which is over when it returns. */
type InProcess = <A, E>(
  use: Effect.Effect<A, E, ConversationStore | Scope.Scope>,
) => Effect.Effect<A, E>

export interface DurabilityBehaviour {
  readonly name: string
  readonly run: (inProcess: InProcess) => Effect.Effect<void, unknown>
}

const meta = sampleMeta(1, { instructions: "be kind", git: { branch: "main" } })
const { id } = meta

export const durabilityCases: ReadonlyArray<DurabilityBehaviour> = [
  {
    name: "another process finds every record, lists it and writes on",
    run: (inProcess) =>
      Effect.gen(function* () {
        const first = yield* inProcess(
          Effect.gen(function* () {
            const store = yield* ConversationStore
            const writer = yield* store.create(meta, firstRecords(meta))
            yield* writer.append(fullTurn(1), "written")
            return writer.generation
          }),
        )
        const expected = [...firstRecords(meta), ...fullTurn(1)]
        yield* inProcess(
          Effect.gen(function* () {
            const store = yield* ConversationStore
            yield* expectEqual("the log", yield* readAll(id, 3), expected)
            const { items } = yield* store.list({ limit: 5 })
            yield* expectEqual(
              "listed",
              items.map((item) => [item.meta.id, item.preview]),
              [[id, "run it"]],
            )
            yield* expectEqual("the metadata", (yield* store.metadata({ id })).meta, meta)
            const { repairs, writer } = yield* store.open({ id })
            yield* expectEqual("nothing to repair", repairs, [])
            yield* expectEqual("a later generation", writer.generation > first, true)
            yield* writer.append(exchange(9, "on"), "synced")
          }),
        )
        const found = yield* inProcess(readAll(id, 1000))
        yield* expectEqual("the whole log", found, [...expected, ...exchange(9, "on")])
      }),
  },
  {
    name: "what was archived or deleted stays so",
    run: (inProcess) =>
      Effect.gen(function* () {
        const [kept, archived, deleted] = [1, 2, 3].map((number) => sampleMeta(number))
        if (kept === undefined || archived === undefined || deleted === undefined) return
        yield* inProcess(
          Effect.gen(function* () {
            const store = yield* ConversationStore
            for (const each of [kept, archived, deleted]) {
              yield* Effect.scoped(store.create(each, firstRecords(each)))
            }
            yield* store.archive(archived.id)
            yield* store.delete(deleted.id)
          }),
        )
        yield* inProcess(
          Effect.gen(function* () {
            const store = yield* ConversationStore
            const idsOf = (query: { readonly archived: boolean }) =>
              Effect.map(store.list({ limit: 5, ...query }), ({ items }) =>
                items.map((item) => item.meta.id),
              )
            yield* expectEqual("listed", yield* idsOf({ archived: false }), [kept.id])
            yield* expectEqual("archived", yield* idsOf({ archived: true }), [archived.id])
          }),
        )
      }),
  },
]
