/** Conformance of durable stores: a later process finds everything that an earlier one stored. */
import { ConversationStore } from "@colloquy/core/ConversationStore"
import type { LogRecord } from "@colloquy/core/LogRecord"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { expectEqual } from "./Expectations.ts"
import { readAll } from "./LogCases.ts"
import { exchange, fullTurn, firstRecords, sampleMeta } from "./SampleRecords.ts"

/** Runs an effect as a process of its own, which has ended when the effect completes. */
type InProcess = <A, E>(
  use: Effect.Effect<A, E, ConversationStore | Scope.Scope>,
) => Effect.Effect<A, E>

/** A behaviour that involves several processes one after another. */
export interface DurabilityBehaviour {
  /** States the behaviour in a sentence. */
  readonly name: string
  /** Fails when the store behaves differently. */
  readonly run: (inProcess: InProcess) => Effect.Effect<void, unknown>
}

const meta = sampleMeta(1, { instructions: "be kind", git: { branch: "main" } })
const { id } = meta

/** Checks what a second process finds of the first one's conversation, and appends to it. */
const continueAfter = (first: number, expected: ReadonlyArray<LogRecord>) =>
  Effect.gen(function* () {
    const store = yield* ConversationStore
    yield* expectEqual("records read by the second process", yield* readAll(id, 3), expected)
    const { items } = yield* store.list({ limit: 5 })
    yield* expectEqual(
      "ids and previews listed by the second process",
      items.map((item) => [item.meta.id, item.preview]),
      [[id, "run it"]],
    )
    yield* expectEqual(
      "metadata read by the second process",
      (yield* store.metadata({ id })).meta,
      meta,
    )
    const { repairs, writer } = yield* store.open({ id })
    yield* expectEqual("repairs of an intact log", repairs, [])
    yield* expectEqual(
      "the second writer has a larger generation than the first",
      writer.generation > first,
      true,
    )
    yield* writer.append(exchange(9, "on"), "synced")
  })

const laterProcess: DurabilityBehaviour = {
  name: "a later process reads every record, lists the conversation and appends to it",
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
      yield* inProcess(continueAfter(first, expected))
      const found = yield* inProcess(readAll(id, 1000))
      yield* expectEqual("records read by the third process", found, [
        ...expected,
        ...exchange(9, "on"),
      ])
    }),
}

const archivedAndDeleted: DurabilityBehaviour = {
  name: "a later process finds conversations archived and deleted as the earlier one left them",
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
          yield* expectEqual("unarchived conversations", yield* idsOf({ archived: false }), [
            kept.id,
          ])
          yield* expectEqual("archived conversations", yield* idsOf({ archived: true }), [
            archived.id,
          ])
        }),
      )
    }),
}

/** The cases for durable stores. */
export const durabilityCases: ReadonlyArray<DurabilityBehaviour> = [
  laterProcess,
  archivedAndDeleted,
]
