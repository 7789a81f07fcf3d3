import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { ConversationManager } from "../src/ConversationManager.ts"
import type { ConversationSettings } from "../src/ConversationSettings.ts"
import type { ToolContext } from "../src/ToolRuntime.ts"
import { exec } from "./approvals.ts"
import { observed } from "./stores.ts"
import {
  answer,
  callItem,
  completed,
  done,
  eventsOf,
  isEnd,
  isType,
  loadedIds,
  managerLayer,
  says,
  scripted,
  settings,
  takeUntil,
  tools,
} from "./support.ts"

const asks = [done(callItem("ask", "c")), completed]

/** Runs a turn to its end and returns its events. */
const turn = Effect.fnUntraced(function* (
  conversation: Effect.Success<ReturnType<ConversationManager["Service"]["get"]>>,
) {
  const listener = yield* conversation.attach()
  yield* conversation.submit(says("hi"))
  return eventsOf(yield* takeUntil(listener, isEnd))
}, Effect.scoped)

describe("ConversationManager and conversations between two replies", () => {
  it.effect(
    "a sequence of replies loads nothing; five seconds after the last one it is evicted",
    () => {
      const store = observed()
      return Effect.gen(function* () {
        yield* TestClock.adjust(0)
        const manager = yield* ConversationManager
        const conversation = yield* manager.create(settings)
        for (let n = 0; n < 5; n++) {
          yield* turn(conversation)
          yield* TestClock.adjust("4 seconds")
        }
        assert.deepStrictEqual(yield* loadedIds(manager), [conversation.id])
        assert.notInclude(store.calls, "open")
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(yield* loadedIds(manager), [])
      }).pipe(Effect.provide(managerLayer(scripted(answer("yes")), { store: store.layer })))
    },
  )

  it.effect("L7 what was approved for the session is granted after an eviction", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const manager = yield* ConversationManager
      const conversation = yield* manager.create(settings)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const person = yield* conversation.attach({ answers: true })
          yield* conversation.submit(says("hi"))
          yield* takeUntil(person, ({ _tag }) => _tag === "Ask")
          yield* conversation.submit({
            type: "exec_approval",
            id: "c",
            decision: "approved_for_session",
          })
          yield* takeUntil(person, isEnd)
        }),
      )
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(yield* loadedIds(manager), [])
      const resolved = (yield* turn(conversation)).flatMap(({ msg }) =>
        msg.type === "approval_resolved" ? [[msg.decision, msg.reason]] : [],
      )
      assert.deepStrictEqual(resolved, [["approved", "granted"]])
    }).pipe(
      Effect.provide(
        managerLayer(scripted(asks, answer("one"), asks, answer("two")), {
          tools: tools({
            ask: (_, { approve }: ToolContext) =>
              Effect.map(approve(exec("c")), ({ decision }) => decision),
          }),
        }),
      ),
    ),
  )

  it.effect("a conversation keeps settings that no store keeps", () => {
    const own: ConversationSettings = {
      ...settings,
      unattended: { allow: () => true },
      shellEnvironment: {
        inherit: "core",
        ignoreDefaultExcludes: false,
        exclude: [],
        set: { A: "1" },
        includeOnly: [],
      },
    }
    return Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const manager = yield* ConversationManager
      const [plain, other] = [yield* manager.create(settings), yield* manager.create(own)]
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(yield* loadedIds(manager), [])
      assert.deepStrictEqual((yield* plain.state).settings, settings)
      assert.deepStrictEqual((yield* other.state).settings, own)
    }).pipe(Effect.provide(managerLayer(scripted(answer("yes")))))
  })

  it.effect(
    "a conversation in use is not taken out of memory, however often its time is over",
    () => {
      const store = observed()
      return Effect.gen(function* () {
        yield* TestClock.adjust(0)
        const manager = yield* ConversationManager
        const conversation = yield* manager.create(settings)
        const listener = yield* conversation.attach()
        for (let n = 0; n < 20; n++) {
          yield* TestClock.adjust("5 seconds")
          assert.deepStrictEqual(yield* loadedIds(manager), [conversation.id])
        }
        yield* conversation.submit(says("hi"))
        yield* takeUntil(listener, isType("task_complete"))
        assert.notInclude(store.calls, "open")
      }).pipe(
        Effect.scoped,
        Effect.provide(managerLayer(scripted(answer("yes")), { store: store.layer })),
      )
    },
  )
})
