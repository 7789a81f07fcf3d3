import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Conversation from "../src/Conversation.ts"
import { ConversationClosed } from "../src/ConversationErrors.ts"
import { ModelClient } from "../src/ModelClient.ts"
import { ToolRuntime } from "../src/ToolRuntime.ts"
import {
  answer,
  conversationId,
  durableOf,
  existing,
  isEnd,
  type Response,
  says,
  scripted,
  settings,
  settle,
  takeToEnd,
  takeUntil,
  tools,
  typesOf,
} from "./support.ts"

const make = (response: Response, options?: Parameters<typeof Conversation.make>[2]) =>
  Conversation.make(conversationId, settings, options).pipe(
    Effect.provideService(ModelClient, scripted(response).service),
    Effect.provideService(ToolRuntime, tools()),
  )

describe("Conversation.suspend", () => {
  it.effect("ends it without any event; afterwards it is closed, and its log can be read", () =>
    Effect.gen(function* () {
      let closed = 0
      const conversation = yield* make(answer("yes"), {
        onClose: () => Effect.sync(() => closed++),
      })
      yield* conversation.submit(says("hi"))
      yield* settle
      const before = yield* conversation.durableEvents
      assert.isTrue(yield* conversation.suspend)
      yield* settle
      assert.strictEqual(closed, 1)
      assert.deepStrictEqual(
        yield* Effect.exit(conversation.submit(says("hi"))),
        Exit.fail(new ConversationClosed()),
      )
      assert.isFalse(yield* conversation.suspend)
      assert.deepStrictEqual(
        durableOf(yield* takeToEnd(yield* conversation.attach({ from: 0 }))),
        before,
      )
    }),
  )

  it.effect("does nothing while a turn runs or a listener is attached", () =>
    Effect.gen(function* () {
      const conversation = yield* make(Stream.never)
      const scope = yield* Scope.make()
      yield* Scope.provide(conversation.attach(), scope)
      assert.isFalse(yield* conversation.suspend)
      yield* Scope.close(scope, Exit.void)
      yield* conversation.submit(says("hi"))
      assert.isFalse(yield* conversation.suspend)
      yield* conversation.cancel("0")
      yield* settle
      assert.isTrue(yield* conversation.suspend)
    }),
  )

  it.effect("does nothing when the inbox has an unread message after it", () =>
    Effect.gen(function* () {
      const conversation = yield* make(Stream.never)
      const [suspended, receipt] = yield* Effect.all(
        [conversation.suspend, conversation.submit(says("hi"))],
        { concurrency: "unbounded" },
      )
      assert.isFalse(suspended)
      assert.deepStrictEqual(receipt, { id: "0", disposition: "started" })
    }),
  )

  it.effect("L3 L4 continues from its log without delivering anything again", () =>
    Effect.gen(function* () {
      const first = yield* make(answer("yes"))
      yield* first.submit(says("hi"))
      yield* settle
      const state = yield* first.state
      const events = yield* first.durableEvents
      assert.isTrue(yield* first.suspend)
      const left = existing(events)
      const second = yield* make(answer("again"), {
        existing: { ...left, unfinished: { ...left.unfinished, receipts: state.receipts } },
      })
      assert.deepStrictEqual(yield* second.state, state)
      assert.deepStrictEqual(yield* second.durableEvents, events)
      const listener = yield* second.attach()
      assert.deepStrictEqual(yield* second.submit(says("more")), {
        id: "1",
        disposition: "started",
      })
      const seen = yield* takeUntil(listener, isEnd)
      assert.strictEqual(durableOf(seen)[0]?.seq, events.length)
      assert.notInclude(typesOf(seen), "session_configured")
    }),
  )
})
