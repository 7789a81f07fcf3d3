/** Conformance of stores that outlive their process: another one finds everything. */
import { ConversationStore } from "@colloquy/core/ConversationStore"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { same } from "./Check.ts"
import { readAll } from "./Logs.ts"
import { exchange, fullTurn, openingOf, sampleMeta } from "./Samples.ts"

/** Runs in a process of its own, which is over when it returns. */
type InProcess = <A, E>(
  use: Effect.Effect<A, E, ConversationStore | Scope.Scope>,
) => Effect.Effect<A, E>

export interface DurableBehaviour {
  readonly name: string
  readonly run: (inProcess: InProcess) => Effect.Effect<void, unknown>
}

const meta = sampleMeta(1, { instructions: "be kind", git: { branch: "main" } })
const { id } = meta

export const durableCases: ReadonlyArray<DurableBehaviour> = [
  {
    name: "another process finds every record, lists it and writes on",
    run: (inProcess) =>
      Effect.gen(function* () {
        const first = yield* inProcess(
          Effect.gen(function* () {
            const store = yield* ConversationStore
            const writer = yield* store.create(meta, openingOf(meta))
            yield* writer.append(fullTurn(1), "written")
            return writer.generation
          }),
        )
        const expected = [...openingOf(meta), ...fullTurn(1)]
        yield* inProcess(
          Effect.gen(function* () {
            const store = yield* ConversationStore
            yield* same("the log", yield* readAll(id, 3), expected)
            const { items } = yield* store.list({ limit: 5 })
            yield* same(
              "listed",
              items.map((item) => [item.meta.id, item.preview]),
              [[id, "run it"]],
            )
            yield* same("the metadata", (yield* store.metadata({ id })).meta, meta)
            const { repairs, writer } = yield* store.open({ id })
            yield* same("nothing to repair", repairs, [])
            yield* same("a later generation", writer.generation > first, true)
            yield* writer.append(exchange(9, "on"), "synced")
          }),
        )
        const found = yield* inProcess(readAll(id, 1000))
        yield* same("the whole log", found, [...expected, ...exchange(9, "on")])
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
              yield* Effect.scoped(store.create(each, openingOf(each)))
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
            yield* same("listed", yield* idsOf({ archived: false }), [kept.id])
            yield* same("archived", yield* idsOf({ archived: true }), [archived.id])
          }),
        )
      }),
  },
]
