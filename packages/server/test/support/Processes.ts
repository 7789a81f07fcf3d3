/** Servers over one store, as several processes of a state directory have them, one after the other or at the same time. */
import { ConversationStore } from "@colloquy/core/ConversationStore"
import { MemoryStore } from "@colloquy/core/store/MemoryStore"
import { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { AppOptions } from "./AppHarness.ts"
import type { Harness } from "./Harness.ts"
import { withThreads } from "./Threading.ts"

/** A store in memory that a test can hand to several servers. */
export const sharedStore = () => {
  const store = new MemoryStore()
  const service: ConversationStore["Service"] = {
    create: (...of) => store.create(...of),
    open: (where) => store.open(where),
    read: (...of) => store.read(...of),
    readBackward: (...of) => store.readBackward(...of),
    positionOf: (...of) => store.positionOf(...of),
    list: (query) => store.list(query),
    metadata: (where) => store.metadata(where),
    archive: (id) => store.archive(id),
    unarchive: (id) => store.unarchive(id),
    rename: (...of) => store.rename(...of),
    delete: (id) => store.delete(id),
  }
  return { store, layer: Layer.succeed(ConversationStore, service) }
}

/** The store as the next process finds it after the kill of the one that runs now. */
export const killed = Effect.fnUntraced(function* (
  { store }: ReturnType<typeof sharedStore>,
  threadId: string,
) {
  const id = ConversationId.make(threadId)
  const next = sharedStore()
  const { meta } = yield* store.metadata({ id })
  const { records } = yield* store.read(id, { max: Number.MAX_SAFE_INTEGER })
  yield* Effect.scoped(next.store.create(meta, records))
  return next
})

/** Like `withThreads`, with services of its own also where another server runs. */
export const withProcess = <A, E>(
  options: AppOptions,
  body: (app: Harness) => Effect.Effect<A, E, Scope.Scope>,
): Effect.Effect<A, E> =>
  Effect.provideService(withThreads(options, body), Layer.CurrentMemoMap, Layer.makeMemoMapUnsafe())
