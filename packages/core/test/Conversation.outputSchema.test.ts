import type { Op } from "@colloquy/protocol/Op"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { ConversationManager } from "../src/ConversationManager.ts"
import {
  answer,
  callItem,
  completed,
  done,
  managerLayer,
  open,
  says,
  scripted,
  settings,
  settle,
  tools,
} from "./support.ts"
import { SettingsResolver } from "../src/ConversationSettings.ts"
import { withStored } from "../src/store/Settings.ts"
import { MemoryStore } from "../src/store/MemoryStore.ts"
import * as Layer from "effect/Layer"

const schema = { type: "object", properties: { a: { type: "string" } } }
const asks = (text: string): Op => ({
  type: "user_input",
  items: [{ type: "text", text }],
  final_output_json_schema: schema,
})

describe("the schema of an answer", () => {
  it.effect("applies to every request of its turn, and to no other turn", () =>
    Effect.gen(function* () {
      const { conversation, requests } = yield* open(
        [[done(callItem("ok", "1")), completed], answer("{}"), answer("yes")],
        { tools: tools({ ok: () => Effect.succeed("ok") }) },
      )
      yield* conversation.submit(asks("json"), { id: "first" })
      yield* conversation.submit(says("text"), { id: "second", whileRunning: "wait" })
      yield* settle
      yield* settle
      assert.deepStrictEqual(
        requests.map(({ outputSchema }) => outputSchema),
        [schema, schema, undefined],
      )
    }),
  )

  it.effect("of queued input counts when its turn starts", () =>
    Effect.gen(function* () {
      const { conversation, requests } = yield* open([answer("yes"), answer("{}")])
      yield* conversation.submit(says("text"), { id: "first" })
      yield* conversation.submit(asks("json"), { id: "second", whileRunning: "wait" })
      yield* settle
      yield* settle
      assert.deepStrictEqual(
        requests.map(({ outputSchema }) => outputSchema),
        [undefined, schema],
      )
    }),
  )

  it.effect("of an interrupted process counts for the turn that is resumed", () =>
    Effect.gen(function* () {
      const store = Layer.succeedContext(yield* Layer.build(MemoryStore.layer))
      const first = scripted([done(callItem("hang", "1")), completed])
      const second = scripted(answer("{}"))
      const continuing = { ...settings, onRestart: "continue" as const }
      const resolver = Layer.succeed(SettingsResolver, {
        resolve: ({ stored }) =>
          Effect.succeed(stored === undefined ? settings : withStored(settings, stored)),
      })
      const hanging = tools({ hang: () => Effect.never })
      const id = yield* Effect.gen(function* () {
        const conversation = yield* (yield* ConversationManager).create(continuing)
        yield* conversation.submit(asks("json"), { id: "t" })
        yield* settle
        return conversation.id
      }).pipe(
        Effect.provide(managerLayer(first, { store, resolver, tools: hanging })),
        Effect.scoped,
      )
      assert.deepStrictEqual(first.requests[0]?.outputSchema, schema)
      yield* Effect.gen(function* () {
        const conversation = yield* (yield* ConversationManager).get(id)
        assert.deepStrictEqual((yield* conversation.state).settings.outputSchema, schema)
      }).pipe(
        Effect.provide(managerLayer(second, { store, resolver, tools: hanging })),
        Effect.scoped,
      )
    }),
  )
})
