/** A store in memory that can fail, and whose conversations another process can take over: then no append and no opening succeeds. */
import { ConversationStore, type LogWriter } from "@colloquy/core/ConversationStore"
import { MemoryStore } from "@colloquy/core/store/MemoryStore"
import { LeaseHeld, LeaseLost, StoreError } from "@colloquy/core/StoreErrors"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

export interface LosableStore {
  readonly layer: Layer.Layer<ConversationStore>
  /** True while another process has every conversation. */
  lost: boolean
  /** True while nothing can be recorded, such as with a full disk. */
  failing: boolean
}

const holder = { pid: 42, host: "elsewhere" }

export const losable = (): LosableStore => {
  const inner = new MemoryStore()
  const store: Omit<LosableStore, "layer"> = { lost: false, failing: false }
  const losing = (id: string, writer: LogWriter): LogWriter => ({
    generation: writer.generation,
    append: (...batch) =>
      Effect.suspend((): ReturnType<LogWriter["append"]> => {
        if (store.lost) return Effect.fail(new LeaseLost({ id, generation: writer.generation }))
        return store.failing
          ? Effect.fail(
              new StoreError({ operation: "append", reason: "Full", message: "the disk is full" }),
            )
          : writer.append(...batch)
      }),
  })
  const service: ConversationStore["Service"] = {
    create: (meta, records) =>
      Effect.map(inner.create(meta, records), (writer) => losing(meta.id, writer)),
    open: (where) =>
      Effect.suspend(() =>
        store.lost
          ? Effect.fail(new LeaseHeld({ id: "id" in where ? where.id : where.path, holder }))
          : Effect.map(inner.open(where), (opened) => ({
              ...opened,
              writer: losing(opened.summary.meta.id, opened.writer),
            })),
      ),
    read: (...of) => inner.read(...of),
    readBackward: (...of) => inner.readBackward(...of),
    positionOf: (...of) => inner.positionOf(...of),
    list: (query) => inner.list(query),
    metadata: (where) => inner.metadata(where),
    archive: (id) => inner.archive(id),
    unarchive: (id) => inner.unarchive(id),
    rename: (id, name) => inner.rename(id, name),
    delete: (id) => inner.delete(id),
  }
  return Object.assign(store, { layer: Layer.succeed(ConversationStore, service) })
}
