/** Threads that cannot start: the request fails, and leaves nothing behind. */
import { ConversationStore } from "@colloquy/core/ConversationStore"
import { MemoryStore } from "@colloquy/core/store/MemoryStore"
import { StoreError } from "@colloquy/core/StoreErrors"
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { errorOf, resultOf, unknownId } from "../support/AppHarness.ts"
import { at, started, told, turn, withThreads } from "../support/Threading.ts"

/** A store in memory that says nothing about its conversations while `fails` is true. */
const forgetful = () => {
  const state = { fails: false }
  const error = new StoreError({ operation: "metadata", reason: "Other", message: "disk failed" })
  const layer = Layer.effect(
    ConversationStore,
    Effect.map(ConversationStore, (memory) =>
      ConversationStore.of({
        create: (...args) => memory.create(...args),
        open: (where) => memory.open(where),
        read: (...args) => memory.read(...args),
        readBackward: (...args) => memory.readBackward(...args),
        positionOf: (...args) => memory.positionOf(...args),
        list: (query) => memory.list(query),
        metadata: (where) =>
          Effect.suspend(() => (state.fails ? Effect.fail(error) : memory.metadata(where))),
        archive: (id) => memory.archive(id),
        unarchive: (id) => memory.unarchive(id),
        rename: (id, name) => memory.rename(id, name),
        delete: (id) => memory.delete(id),
      }),
    ),
  ).pipe(Layer.provide(MemoryStore.layer))
  return { state, layer }
}

const message = { type: "message", role: "user", content: [{ type: "input_text", text: "hi" }] }

describe("a thread that cannot start", () => {
  it.effect.each([
    ["thread/start", {}],
    ["thread/fork", {}],
    ["thread/resume", { threadId: unknownId, history: [message] }],
  ] as const)("L3 %s that fails leaves nothing behind", ([method, params]) => {
    const { layer, state } = forgetful()
    return withThreads({ script: [Script.reply(Script.text("yes"))], store: layer }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        yield* turn(app, threadId)
        yield* app.quiet
        const before = app.messages.length
        state.fails = true
        const failed = yield* app.ask("failed", method, { threadId, ...params })
        state.fails = false
        yield* app.quiet
        assert.include(String(errorOf(failed).message), "disk failed")
        assert.strictEqual(app.messages.length, before + 1)
        const listed = yield* app.ask("list", "thread/list", {})
        assert.deepStrictEqual(
          (at(resultOf(listed), "data") as ReadonlyArray<unknown>).map((one) => at(one, "id")),
          [threadId],
        )
        assert.lengthOf(told(app, "thread/started"), 1)
      }),
    )
  })
})
