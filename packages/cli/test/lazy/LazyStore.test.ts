import { ConversationStore } from "@colloquy/core/ConversationStore"
import { MemoryStore } from "@colloquy/core/store/MemoryStore"
import { StoreError } from "@colloquy/core/StoreErrors"
import { ConversationId } from "@colloquy/protocol/Ids"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as LazyStore from "../../src/lazy/LazyStore.ts"

const meta = {
  id: ConversationId.make("01890a5d-ac96-774b-bcce-b302099a8057"),
  createdAtMs: 0,
  cwd: "/work",
  originator: "test",
  version: "1",
}

/** The error of creating a conversation when the underlying store fails with this error. */
const reported = (failure: StoreError) => {
  const refusing = Layer.effect(
    ConversationStore,
    Effect.map(ConversationStore, (memory) => ({ ...memory, create: () => Effect.fail(failure) })),
  ).pipe(Layer.provide(MemoryStore.layer))
  return Effect.gen(function* () {
    const store = yield* ConversationStore
    return yield* Effect.flip(store.create(meta, []))
  }).pipe(
    Effect.scoped,
    Effect.provide(
      LazyStore.layer({ home: "/home/ada/.colloquy" }, () =>
        Promise.resolve({ layer: () => refusing }),
      ),
    ),
  )
}

describe("LazyStore", () => {
  it.effect.each([
    ["Denied", "a permission is missing (lease: EACCES)"],
    // A read-only file system, as Node reports it.
    ["Gone", "it was moved or removed (lease: ENOENT)"],
  ] as const)("the error for a state directory that cannot be written includes advice: %s", (row) =>
    Effect.gen(function* () {
      const [reason, refusal] = row
      const denied = { operation: "create", reason } as const
      const message = `/home/ada/.colloquy/leases/1.json: ${refusal}`
      assert.deepStrictEqual(
        yield* reported(new StoreError({ ...denied, message })),
        new StoreError({
          ...denied,
          message: `${message}: conversations are stored in /home/ada/.colloquy; set COLLOQUY_HOME to use another directory, or \`-c conversation_store=memory\` to store nothing on disk`,
        }),
      )
    }),
  )

  it.effect("an error that another directory would not solve is unchanged", () =>
    Effect.gen(function* () {
      const failure = new StoreError({
        operation: "create",
        reason: "Exists",
        message: "conversation 1 exists already",
      })
      assert.deepStrictEqual(yield* reported(failure), failure)
    }),
  )
})
