/**
 * Rollout files, from their bytes to a loaded conversation: read page by page in both directions, opened for writing and
 * attached to. Checks L4 (numbers without a gap) and L11 (a valid prefix gives the same records whatever follows it).
 */
import { ConversationManager } from "@colloquy/core/ConversationManager"
import * as Conversations from "@colloquy/core/manager/Conversations"
import { IdGenerator } from "@colloquy/core/IdGenerator"
import { ModelClient } from "@colloquy/core/ModelClient"
import { ConversationStore } from "@colloquy/core/ConversationStore"
import type { LogRecord } from "@colloquy/core/LogRecord"
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import { ConversationId } from "@colloquy/protocol/Ids"
import * as MemoryIndex from "@colloquy/store/MemoryIndex"
import * as RolloutStore from "@colloquy/store/RolloutStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { scriptedResolver } from "@colloquy/testing/ScriptedSettings"
import { type Edge, Violation } from "../Edge.ts"
import { MemoryRollout } from "./MemoryRollout.ts"
import { mutateJoined } from "./Pure.ts"
import { rolloutCorpus, rolloutId } from "./RolloutCorpus.ts"

const id = ConversationId.make(rolloutId)

const path = `/home/sessions/2025/09/20/rollout-2025-09-20T08-11-12-${id}.jsonl`

/** A store with one conversation, which has these bytes as its file. */
export const storeOf = (data: Uint8Array): Layer.Layer<ConversationStore> =>
  RolloutStore.layer({ home: "/home", offsetMsAt: () => 0 }).pipe(
    Layer.provide([new MemoryRollout(path, data).layer, MemoryIndex.layer]),
  )

/** Records per page; small, so that positions between pages are used. */
const pageSize = 64

const forward = Effect.gen(function* () {
  const store = yield* ConversationStore
  const records: Array<LogRecord> = []
  let from: number | undefined = 0
  while (from !== undefined) {
    const page: { readonly records: ReadonlyArray<LogRecord>; readonly next?: number } =
      yield* store.read(id, { from, max: pageSize })
    records.push(...page.records)
    from = page.next
  }
  return records
})

const backward = Effect.gen(function* () {
  const store = yield* ConversationStore
  const pages: Array<ReadonlyArray<LogRecord>> = []
  let before: number | undefined = Number.POSITIVE_INFINITY
  while (before !== undefined) {
    const page: { readonly records: ReadonlyArray<LogRecord>; readonly next?: number } =
      yield* store.readBackward(id, { before, max: pageSize })
    pages.unshift(page.records)
    before = page.next
  }
  return pages.flat()
})

const recordsOf = (data: Uint8Array) =>
  Effect.result(forward).pipe(Effect.provide(Layer.fresh(storeOf(data))))

/** True for a file in which every line can be read. */
const isWhole = (data: Uint8Array) =>
  Effect.gen(function* () {
    const store = yield* ConversationStore
    const { repairs } = yield* store.open({ id })
    return repairs.every(({ kind }) => kind !== "bad_line_skipped")
  }).pipe(
    Effect.scoped,
    Effect.orElseSucceed(() => false),
    Effect.provide(Layer.fresh(storeOf(data))),
  )

const textsOf = (records: ReadonlyArray<LogRecord>): ReadonlyArray<string> =>
  records.map((record) => JSON.stringify(record))

const violation = (law: "L11" | "L13", message: string) =>
  Effect.fail(new Violation({ law, message }))

const firstGap = (records: ReadonlyArray<LogRecord>): number =>
  records
    .flatMap((record) => (record._tag === "Event" ? [record.event.seq] : []))
    .findIndex((seq, i) => seq !== i)

/** Lines at the start of a file that identify it; the first records of a foreign file depend on all of them. */
const headerLines = 10

/** Length of a prefix of the file that ends with a complete line after the header. */
const cutOf = (data: Uint8Array): number | undefined => {
  const ends = [...data.keys()].filter((at) => data[at] === 0x0a)
  const later = ends.slice(headerLines)
  const end = later[data.length % Math.max(1, later.length)]
  return end === undefined ? undefined : end + 1
}

const model = Layer.succeed(ModelClient, {
  stream: () => Stream.succeed({ _tag: "Completed" } as const),
})

/** Loads the conversation as a client's first request for it does, and reads it up to `synced`; false when it cannot be loaded. */
const load = (data: Uint8Array) =>
  Effect.gen(function* () {
    const manager = yield* ConversationManager
    const loaded = yield* Effect.result(manager.get(id))
    if (Result.isFailure(loaded)) return false
    const listener = yield* loaded.success.attach({ from: 0 })
    for (;;) {
      const deliveries = yield* listener.take
      JSON.stringify(deliveries)
      if (deliveries.some(({ _tag }) => _tag === "Synced")) return true
    }
  }).pipe(
    Effect.scoped,
    Effect.provide(
      Layer.fresh(
        Conversations.layerWith({}).pipe(
          Layer.provide([IdGenerator.layer, storeOf(data), scriptedResolver(), model]),
          Layer.provide(ToolRuntime.layerNone),
        ),
      ),
    ),
    // A conversation that ended, or a listener that was refused, is a valid result.
    Effect.orElseSucceed(() => false),
  )

const run = (input: Uint8Array) =>
  Effect.gen(function* () {
    const read = yield* recordsOf(input)
    if (Result.isFailure(read)) {
      if (read.failure.message === "") return yield* violation("L13", "an error without a message")
      return "rejected"
    }
    const records = read.success
    const texts = textsOf(records)
    if (records.length > input.length) return yield* violation("L13", "more records than bytes")
    const reversed = yield* backward.pipe(Effect.provide(Layer.fresh(storeOf(input))), Effect.orDie)
    if (yield* isWhole(input)) {
      if (firstGap(records) !== -1) return yield* violation("L13", "events have a gap (L4)")
      if (textsOf(reversed).join("\n") !== texts.join("\n")) {
        return yield* violation("L13", "pages read backward give other records")
      }
    }
    const cut = cutOf(input)
    const head = cut === undefined ? undefined : input.subarray(0, cut)
    if (head !== undefined && (yield* isWhole(head))) {
      const part = yield* recordsOf(head)
      const prefix = Result.isSuccess(part) ? textsOf(part.success) : []
      if (Result.isFailure(part) || prefix.some((text, i) => text !== texts[i])) {
        return yield* violation("L11", "bytes after a valid prefix change its records")
      }
    }
    return (yield* load(input)) ? "accepted" : "rejected"
  })

/** Rollout files. */
export const rollouts: Edge = {
  name: "rollouts",
  summary: "A rollout file, from its bytes to a loaded conversation (store/RolloutStore, core).",
  corpus: rolloutCorpus,
  mutate: mutateJoined("\n", rolloutCorpus),
  open: Effect.succeed({ run }),
}
