/** A store in memory that can be slow and can run out of space: then every append fails until space is available again. */
import { ConversationStore, type LogWriter } from "@colloquy/core/ConversationStore"
import { MemoryStore } from "@colloquy/core/store/MemoryStore"
import { StoreError } from "@colloquy/core/StoreErrors"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

type Service = ConversationStore["Service"]

/** Message of its errors. */
export const fullMessage = "there is no space left (write: ENOSPC)"

/** The store and its controls. */
export interface FullStore {
  readonly layer: Layer.Layer<ConversationStore>
  /** Number of batches that will still be recorded; 0 lets every append fail. Default: no limit. */
  room: number
  /** How long each writing call takes, on the `Clock`. Default: no time. */
  delay: Duration.Input
  /** Number of recorded batches. */
  appended: number
}

const full = (operation: StoreError["operation"]) =>
  Effect.fail(new StoreError({ operation, reason: "Full", message: fullMessage }))

const memory = Effect.map(Effect.scoped(Layer.build(MemoryStore.layer)), (services) =>
  Context.get(services, ConversationStore),
)

/** Runs the call after the delay of the store. */
const delayed = <A, E, R>(
  store: Pick<FullStore, "delay">,
  run: () => Effect.Effect<A, E, R>,
): Effect.Effect<A, E, R> =>
  Effect.suspend(() =>
    store.delay === 0 ? run() : Effect.andThen(Effect.sleep(store.delay), Effect.suspend(run)),
  )

/** A writer whose appends fail once the store is full. */
const counted = (writer: LogWriter, store: Omit<FullStore, "layer">): LogWriter => ({
  generation: writer.generation,
  append: (records, durability) =>
    delayed(store, () => {
      if (store.room <= 0) return full("append")
      store.room--
      store.appended++
      return writer.append(records, durability)
    }),
})

/** Creates an empty store. */
export const make = (): FullStore => {
  const inner = Effect.runSync(memory)
  const store: Omit<FullStore, "layer"> = { room: Infinity, delay: 0, appended: 0 }
  const ifRoom = <A, E, R>(
    operation: StoreError["operation"],
    run: Effect.Effect<A, E, R>,
  ): Effect.Effect<A, E | StoreError, R> =>
    delayed(store, (): Effect.Effect<A, E | StoreError, R> =>
      store.room > 0 ? run : full(operation),
    )
  const writing = (writer: LogWriter) => counted(writer, store)
  const service: Service = {
    create: (...of) =>
      ifRoom(
        "create",
        Effect.map(inner.create(...of), (writer) => {
          store.room--
          return writing(writer)
        }),
      ),
    // Taking a lease writes, too.
    open: (where) =>
      ifRoom(
        "open",
        Effect.map(inner.open(where), (opened) => ({ ...opened, writer: writing(opened.writer) })),
      ),
    read: (...of) => inner.read(...of),
    readBackward: (...of) => inner.readBackward(...of),
    positionOf: (...of) => inner.positionOf(...of),
    list: (query) => inner.list(query),
    metadata: (where) => inner.metadata(where),
    archive: (...of) => ifRoom("archive", inner.archive(...of)),
    unarchive: (...of) => ifRoom("unarchive", inner.unarchive(...of)),
    rename: (id, name) => ifRoom("rename", inner.rename(id, name)),
    delete: (...of) => inner.delete(...of),
  }
  return Object.assign(store, { layer: Layer.succeed(ConversationStore, service) })
}
