/** A store in memory that records its calls and whose methods a test can replace. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ConversationStore, type LogWriter } from "../src/ConversationStore.ts"
import type { LogRecord } from "../src/LogRecord.ts"
import { MemoryStore } from "../src/store/MemoryStore.ts"
import { StoreError } from "../src/StoreErrors.ts"

type Store = ConversationStore["Service"]

/** Replacements for methods of the store: where one is set, it runs instead of the method. */
interface Faults {
  /** `really` is the effect that creates the log. */
  create?: (really: ReturnType<Store["create"]>) => ReturnType<Store["create"]>
  open?: () => Effect.Effect<never, StoreError>
  /** `records` are the records of the call; `really` is the effect that appends them. */
  append?: (
    records: ReadonlyArray<LogRecord>,
    really: ReturnType<LogWriter["append"]>,
  ) => ReturnType<LogWriter["append"]>
  read?: Store["read"]
  list?: Store["list"]
  delete?: () => Effect.Effect<never, StoreError>
  archive?: () => ReturnType<Store["archive"]>
  unarchive?: () => ReturnType<Store["unarchive"]>
}

export const diskFull = (operation: StoreError["operation"]) =>
  Effect.fail(new StoreError({ operation, reason: "Full", message: "no space left" }))

export const observed = () => {
  const calls: Array<string> = []
  const faults: Faults = {}
  const inner = new MemoryStore()
  const records = (id: Parameters<Store["read"]>[0]): ReadonlyArray<LogRecord> =>
    Effect.runSync(inner.read(id, { max: Number.MAX_SAFE_INTEGER })).records
  const writing = (writer: LogWriter): LogWriter => ({
    generation: writer.generation,
    append: (batch, durability) => {
      calls.push(`append ${durability}`)
      const really = writer.append(batch, durability)
      return faults.append?.(batch, really) ?? really
    },
  })
  const service: Store = {
    create: (...args) =>
      Effect.suspend(() => {
        calls.push("create")
        const really = Effect.map(inner.create(...args), writing)
        return faults.create?.(really) ?? really
      }),
    open: (where) => {
      calls.push("open")
      const really = Effect.map(inner.open(where), (opened) => ({
        ...opened,
        writer: writing(opened.writer),
      }))
      return faults.open === undefined ? really : faults.open()
    },
    read: (id, page) => (faults.read ?? inner.read.bind(inner))(id, page),
    readBackward: (id, page) => inner.readBackward(id, page),
    positionOf: (id, seq) => inner.positionOf(id, seq),
    list: (query) => (faults.list ?? inner.list.bind(inner))(query),
    metadata: (where) => inner.metadata(where),
    archive: (id) => faults.archive?.() ?? inner.archive(id),
    unarchive: (id) => faults.unarchive?.() ?? inner.unarchive(id),
    rename: (id, name) => inner.rename(id, name),
    delete: (id) => {
      calls.push("delete")
      return faults.delete?.() ?? inner.delete(id)
    },
  }
  return { calls, faults, records, inner, layer: Layer.succeed(ConversationStore, service) }
}
