import type { InputItem } from "@colloquy/protocol/ResponseItem"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import type { Conversation } from "../src/Conversation.ts"
import { ConversationManager } from "../src/ConversationManager.ts"
import { queueOf } from "../src/decider/InputQueue.ts"
import { isSpent, receiptOf } from "../src/decider/Receipts.ts"
import { LogFold } from "../src/recovery/LogFold.ts"
import { observed } from "./stores.ts"
import {
  answer,
  isEnd,
  managerLayer,
  type Response,
  says,
  scripted,
  settings,
  settle,
  takeUntil,
} from "./support.ts"

const enqueue = (conversation: Conversation, ...texts: ReadonlyArray<string>) =>
  Effect.forEach(texts, (text) =>
    conversation.submit(says(text), { id: text, whileRunning: "enqueue" }),
  )

const queue = (conversation: Conversation) =>
  Effect.map(conversation.state, (state) =>
    queueOf(state).map(({ id, items }) => [id, items[0]?.type === "text" ? items[0].text : ""]),
  )

const textOf = (item: InputItem | undefined): string => (item?.type === "text" ? item.text : "")

const hanging: Response = Stream.never

/** A manager over the store, as one process has it; `end` shuts it down in order. */
const processOver = Effect.fnUntraced(function* (
  store: ReturnType<typeof observed>,
  ...responses: ReadonlyArray<Response>
) {
  yield* TestClock.adjust(0)
  const scope = yield* Scope.make()
  const services = yield* Layer.buildWithScope(
    Layer.fresh(managerLayer(scripted(...responses), { store: store.layer })),
    scope,
  )
  return {
    manager: Context.get(services, ConversationManager),
    end: Effect.flatMap(Effect.forkChild(Scope.close(scope, Exit.void)), (closing) =>
      Effect.andThen(TestClock.adjust("1 minute"), Fiber.join(closing)),
    ),
  }
})

/** Queues three inputs behind a turn that runs, and edits, moves and removes them. */
const changed = Effect.fnUntraced(function* (conversation: Conversation) {
  yield* conversation.submit(says("first"), { id: "first" })
  yield* enqueue(conversation, "a", "b", "c")
  const items = [{ type: "text", text: "better" }] as const
  yield* conversation.submit({ type: "edit_queued", id: "b", items })
  yield* conversation.submit({ type: "reorder_queue", ids: ["c", "b", "a"] })
  yield* conversation.submit({ type: "remove_queued", id: "a" })
})

const expected = [
  ["c", "c"],
  ["b", "better"],
]

describe("the queue of input", () => {
  it.effect(
    "L10 survives the end of the process with its edits and its order, and is held then",
    () =>
      Effect.gen(function* () {
        const store = observed()
        const one = yield* processOver(store, hanging)
        const { id } = yield* Effect.tap(one.manager.create(settings), changed)
        const fold = new LogFold()
        fold.add(store.records(id))
        assert.deepStrictEqual(
          fold.finish().unfinished.waiting.map(({ id, inQueue }) => [id, inQueue]),
          [
            ["c", true],
            ["b", true],
          ],
          "after a crash",
        )
        yield* one.end
        const other = yield* processOver(store, answer("ok"), answer("ok"))
        const conversation = yield* other.manager.get(id)
        assert.deepStrictEqual(yield* queue(conversation), expected)
        assert.isUndefined((yield* conversation.state).turn)
        const listener = yield* conversation.attach()
        yield* conversation.submit({ type: "start_queued" })
        for (const _ of expected) yield* takeUntil(listener, isEnd)
        yield* settle
        assert.deepStrictEqual(yield* queue(conversation), [])
        const input = (yield* other.manager.history(id)).flatMap(({ event: { msg } }) =>
          msg.type === "user_message" && msg.kind === "plain" ? [msg.message] : [],
        )
        assert.deepStrictEqual(input, ["first", "c", "better"])
        yield* other.end
      }).pipe(Effect.scoped),
  )

  it.effect(
    "L10 L11 wherever a crash cuts its records off, what is not acknowledged is done and known, or can be repeated",
    () =>
      Effect.gen(function* () {
        const store = observed()
        const { end, manager } = yield* processOver(store, hanging)
        const conversation = yield* manager.create(settings)
        yield* conversation.submit(says("first"), { id: "first" })
        yield* enqueue(conversation, "a", "b")
        const items = [{ type: "text", text: "better" }] as const
        yield* conversation.submit({ type: "edit_queued", id: "b", items }, { id: "edit" })
        yield* conversation.submit({ type: "reorder_queue", ids: ["b", "a"] }, { id: "reorder" })
        const records = store.records(conversation.id)
        const states = records.map((_, place) => {
          const fold = new LogFold()
          fold.add(records.slice(0, place + 1))
          const { receipts, waiting } = fold.finish().unfinished
          for (const id of ["a", "b", "edit", "reorder"]) {
            const isKnown = receiptOf(receipts, id) !== undefined
            assert.isTrue(isKnown || !isSpent(receipts, id), `${id} cannot be repeated at ${place}`)
          }
          const known = ["edit", "reorder"].filter((id) => receiptOf(receipts, id) !== undefined)
          return [...known, ...waiting.map(({ items: [item] }) => textOf(item))].join(" ")
        })
        assert.deepStrictEqual(
          [...new Set(states)],
          ["", "a", "a b", "edit a better", "edit reorder better a"],
        )
        yield* end
      }),
  )

  it.effect("is kept by a revert while it is held, and by a shutdown", () =>
    Effect.gen(function* () {
      const store = observed()
      const one = yield* processOver(store, hanging)
      const conversation = yield* one.manager.create(settings)
      const listener = yield* conversation.attach()
      yield* conversation.submit(says("first"), { id: "first" })
      yield* enqueue(conversation, "a")
      yield* conversation.submit({ type: "interrupt" })
      yield* takeUntil(listener, isEnd)
      yield* conversation.submit({ type: "revert", turn_id: "first" })
      assert.deepStrictEqual(yield* queue(conversation), [["a", "a"]])
      yield* conversation.submit({ type: "shutdown" })
      yield* settle
      assert.deepStrictEqual(yield* queue(yield* one.manager.get(conversation.id)), [["a", "a"]])
      yield* one.end
    }).pipe(Effect.scoped),
  )

  it.effect("L10 its changes are synced before they are acknowledged", () =>
    Effect.gen(function* () {
      const store = observed()
      const { end, manager } = yield* processOver(store, hanging)
      const conversation = yield* manager.create(settings)
      yield* conversation.submit(says("first"), { id: "first" })
      yield* enqueue(conversation, "a", "b")
      const before = store.calls.length
      yield* conversation.submit({ type: "reorder_queue", ids: ["b", "a"] })
      assert.deepStrictEqual(store.calls.slice(before), ["append synced"])
      yield* end
    }),
  )

  it.effect("is not copied by a fork", () =>
    Effect.gen(function* () {
      const { end, manager } = yield* processOver(observed(), hanging)
      const conversation = yield* manager.create(settings)
      yield* changed(conversation)
      const fork = yield* manager.fork(conversation.id, { _tag: "DropLastUserMessages", n: 0 })
      assert.deepStrictEqual(yield* queue(fork), [])
      const types = (yield* manager.history(fork.id)).map(({ event }) => event.msg.type)
      assert.notInclude(types, "queue_changed")
      yield* end
    }),
  )

  it.effect("does not keep an idle conversation in memory", () =>
    Effect.gen(function* () {
      const store = observed()
      const { end, manager } = yield* processOver(store, hanging)
      const conversation = yield* manager.create(settings)
      yield* changed(conversation)
      yield* conversation.cancel("first")
      yield* settle
      yield* TestClock.adjust("2 hours")
      yield* settle
      const { items } = yield* manager.list()
      assert.deepStrictEqual(
        items.map(({ loaded }) => loaded),
        [false],
      )
      assert.deepStrictEqual(yield* queue(conversation), expected)
      yield* end
    }),
  )
})
