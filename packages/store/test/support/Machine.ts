/**
 * A machine in memory for tests of the store. Every build of its store layer is another process.
 */
import { ConversationStore } from "@colloquy/core/ConversationStore"
import type { LogRecord } from "@colloquy/core/LogRecord"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as MemoryIndex from "../../src/MemoryIndex.ts"
import * as RolloutStore from "../../src/RolloutStore.ts"
import { MemoryFiles } from "./MemoryFiles.ts"
import { MemoryLeases } from "./MemoryLeases.ts"

/** The state directory. */
export const home = "/state"

/** The files and leases of a machine, and its processes. */
export class Machine {
  readonly files = new MemoryFiles()
  readonly leases = new MemoryLeases()
  private readonly options: Partial<RolloutStore.RolloutStoreOptions>

  constructor(options: Partial<RolloutStore.RolloutStoreOptions> = {}) {
    this.options = options
  }

  get layer(): Layer.Layer<ConversationStore> {
    return RolloutStore.layer({
      home,
      offsetMsAt: () => 2 * 3_600_000,
      ...this.options,
    }).pipe(Layer.provide([this.files.layer, this.leases.layer, MemoryIndex.layer]))
  }

  /** Runs an effect as a separate process. */
  run<A, E>(use: Effect.Effect<A, E, ConversationStore | Scope.Scope>): Effect.Effect<A, E> {
    return use.pipe(Effect.scoped, Effect.provide(Layer.fresh(this.layer)))
  }

  /** Path of the only rollout file. */
  get file(): string {
    const [file, ...more] = this.files.files()
    if (file === undefined || more.length > 0) throw new Error("expected one file")
    return file
  }
}

/** All records of a conversation, read in pages. */
export const readAll = Effect.fnUntraced(function* (id: ConversationId, max = 1000) {
  const store = yield* ConversationStore
  const records: Array<LogRecord> = []
  let from = 0
  for (;;) {
    const page = yield* store.read(id, { from, max })
    records.push(...page.records)
    if (page.next === undefined) return records
    from = page.next
  }
})
