import type { ConversationId } from "@colloquy/protocol/Ids"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { ConversationManager } from "../src/ConversationManager.ts"
import { killed, processOver } from "./restarts.ts"
import { observed } from "./stores.ts"
import { answer, says, scripted, settings, settle } from "./support.ts"

type Manager = ConversationManager["Service"]
type Conversation = Effect.Success<ReturnType<Manager["get"]>>

/** Inputs that follow the ones which are repeated, each a turn with an id of its own. */
const others = 1100

const sent = ["first", "joins", "waits", "empty"]

/** Sends the inputs. The first two are one turn, the third has one behind it, and the last one has none. */
const send = Effect.fnUntraced(function* (conversation: Conversation) {
  const first = yield* conversation.submit(says("first"), { id: "first" })
  const joins = yield* conversation.submit(says("joins"), { id: "joins" })
  const waits = yield* conversation.submit(says("waits"), { id: "waits", whileRunning: "wait" })
  const empty = yield* conversation.submit({ type: "user_input", items: [] }, { id: "empty" })
  return [first, joins, waits, empty]
})

const repeat = (conversation: Conversation) =>
  Effect.forEach(sent, (id) => conversation.submit(says(id), { id }))

/** What the log has of the inputs that are repeated. */
const recorded = Effect.fnUntraced(function* (manager: Manager, id: ConversationId) {
  const events = (yield* manager.history(id)).filter(({ event }) => sent.includes(event.id))
  return events.flatMap(({ event: { id: turn, msg } }) => {
    if (msg.type === "user_message") return [`${turn}: ${msg.message}`]
    return /^task_|^turn_/.test(msg.type) ? [`${turn}: ${msg.type}`] : []
  })
})

const once = [
  "first: task_started",
  "first: first",
  "first: joins",
  "first: task_complete",
  "waits: task_started",
  "waits: waits",
  "waits: task_complete",
]

/** A conversation with the inputs, and many others after them. */
const long = Effect.gen(function* () {
  const store = observed()
  const gate = yield* Deferred.make<void>()
  const held = Stream.unwrap(Effect.as(Deferred.await(gate), Stream.fromIterable(answer("a"))))
  const script = scripted(held, answer("b"))
  const manager = yield* processOver(store, script)
  const conversation = yield* manager.create(settings)
  const receipts = yield* send(conversation)
  assert.deepStrictEqual(
    receipts.map(({ disposition }) => disposition),
    ["started", "joined", "waiting", "none"],
  )
  yield* Deferred.succeed(gate, undefined)
  yield* settle
  for (let i = 0; i < others; i++) yield* conversation.runTurn(says("x"), { id: `other-${i}` })
  assert.deepStrictEqual(yield* recorded(manager, conversation.id), once)
  return { conversation, manager, receipts, script, store }
})

describe("an input that is sent again after many others", () => {
  it.effect("L5 L10 has no effect and gets the same receipt", () =>
    Effect.gen(function* () {
      const { conversation, manager, receipts, script } = yield* long
      const requests = script.requests.length
      assert.deepStrictEqual(yield* repeat(conversation), receipts)
      yield* settle
      assert.deepStrictEqual(yield* recorded(manager, conversation.id), once)
      assert.strictEqual(script.requests.length, requests)
    }),
  )

  it.effect("L5 L10 has no effect and gets the same receipt in the next process", () =>
    Effect.gen(function* () {
      const {
        conversation: { id },
        receipts,
        store,
      } = yield* long
      const script = scripted(answer("c"))
      const manager = yield* processOver(yield* killed(store, id), script)
      const conversation = yield* manager.get(id)
      assert.deepStrictEqual(yield* repeat(conversation), receipts)
      yield* settle
      assert.deepStrictEqual(yield* recorded(manager, id), once)
      assert.deepStrictEqual(script.requests, [])
    }),
  )

  it.effect("L5 starts no second turn with its id in a fork", () =>
    Effect.gen(function* () {
      const { conversation, manager, script } = yield* long
      const fork = yield* manager.fork(conversation.id, { _tag: "DropLastUserMessages", n: 0 })
      const requests = script.requests.length
      for (const id of ["first", "waits"]) {
        const receipt = yield* fork.submit(says(id), { id })
        assert.deepStrictEqual(receipt, { id, disposition: "started" })
      }
      yield* settle
      assert.deepStrictEqual(yield* recorded(manager, fork.id), once)
      assert.strictEqual(script.requests.length, requests)
    }),
  )
})
