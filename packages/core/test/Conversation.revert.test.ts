import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { ConversationManager } from "../src/ConversationManager.ts"
import { forkLog } from "./forks.ts"
import { historyOf } from "../src/log/History.ts"
import { itemsOf } from "../src/log/Items.ts"
import { restoreState } from "../src/recovery/RestoreState.ts"
import {
  answer,
  conversationId,
  existing,
  listed,
  loadedIds,
  managerLayer,
  open,
  says,
  scripted,
  settings,
  settle,
} from "./support.ts"

type Opened = Effect.Success<ReturnType<typeof open>>
type Conversation = Opened["conversation"]

const speak = Effect.fnUntraced(function* (conversation: Conversation, id: string) {
  yield* conversation.submit(says(`message ${id}`), { id })
  yield* settle
})

const revert = (conversation: Conversation, turn_id: string) =>
  conversation.submit({ type: "revert", turn_id })

const three = [answer("first"), answer("second"), answer("third"), answer("fourth")]

/** Which of the texts the value contains. */
const texts = (value: unknown): ReadonlyArray<string> => {
  const json = JSON.stringify(value)
  return ["a", "b", "c", "d"].filter((id) => json.includes(`message ${id}`))
}

describe("revert", () => {
  it.effect(
    "drops a turn and all later ones from what the model is sent, and L4 nothing from the log",
    () =>
      Effect.gen(function* () {
        const { conversation, requests } = yield* open(three)
        for (const id of ["a", "b", "c"]) yield* speak(conversation, id)
        yield* revert(conversation, "b")
        const log = yield* conversation.durableEvents
        assert.deepStrictEqual(log.at(-1)?.msg, {
          type: "thread_rolled_back",
          num_turns: 2,
          turn_id: "b",
        })
        assert.deepStrictEqual(
          log.map(({ seq }) => seq),
          log.map((_, i) => i),
        )
        assert.deepStrictEqual(texts(log), ["a", "b", "c"])
        yield* speak(conversation, "d")
        assert.deepStrictEqual(texts(requests.at(-1)?.input), ["a", "d"])
        assert.deepStrictEqual(texts(itemsOf(yield* conversation.durableEvents)), ["a", "d"])
        // A second time, beyond the first.
        yield* revert(conversation, "a")
        const all = yield* conversation.durableEvents
        assert.deepStrictEqual(texts(historyOf(all)), [])
        assert.deepStrictEqual(texts(itemsOf(all)), [])
        assert.deepInclude(all.at(-1)?.msg, { num_turns: 2, turn_id: "a" })
      }),
  )

  it.effect("L11 a stored log and a fork of it contain what is left", () =>
    Effect.gen(function* () {
      const { conversation } = yield* open(three)
      for (const id of ["a", "b", "c"]) yield* speak(conversation, id)
      yield* revert(conversation, "c")
      const log = yield* conversation.durableEvents
      const state = yield* conversation.state
      const restored = existing(log)
      assert.deepStrictEqual(texts(restored.log.history()), ["a", "b"])
      assert.strictEqual(restoreState(settings, restored).seq, state.seq)
      const target = { id: conversationId, settings }
      const fork = forkLog(log, { _tag: "DropLastUserMessages", n: 1 }, target)
      assert.deepStrictEqual(texts(fork), ["a"])
    }),
  )

  it.effect(
    "L13 refuses a turn that the conversation does not contain, and interrupts nothing then",
    () =>
      Effect.gen(function* () {
        const { conversation } = yield* open([answer("first"), Stream.never])
        yield* speak(conversation, "a")
        const refusalOf = (turnId: string) =>
          Effect.map(Effect.flip(revert(conversation, turnId)), (error) =>
            error._tag === "SubmissionRefused" ? [error.reason, error.message] : error,
          )
        assert.deepStrictEqual(yield* refusalOf("x"), ["NoSuchTurn", "turn not found: x"])
        yield* revert(conversation, "a")
        assert.deepStrictEqual(yield* refusalOf("a"), ["NoSuchTurn", "turn not found: a"])
        yield* speak(conversation, "b")
        assert.deepStrictEqual(yield* refusalOf("a"), ["NoSuchTurn", "turn not found: a"])
        assert.strictEqual((yield* conversation.state).turn?.id, "b")
      }),
  )

  it.effect("L10 interrupts the running turn; input behind it starts a turn after it", () =>
    Effect.gen(function* () {
      const { conversation, requests } = yield* open([answer("first"), Stream.never, answer("c")])
      yield* speak(conversation, "a")
      yield* speak(conversation, "b")
      const receipts = yield* Effect.all(
        [
          conversation.submit({ type: "revert", turn_id: "b" }, { id: "revert" }),
          conversation.submit(says("message c"), { id: "c", whileRunning: "reject" }),
          conversation.submit(says("message d"), { id: "d" }),
        ],
        { concurrency: "unbounded" },
      )
      assert.deepStrictEqual(receipts, [
        { id: "revert", disposition: "waiting" },
        { id: "c", disposition: "waiting" },
        { id: "d", disposition: "waiting" },
      ])
      const refused = conversation.submit(says("message e"), { whileRunning: "reject" })
      assert.include(yield* Effect.flip(refused), { reason: "TurnRunning" })
      yield* settle
      const marks = (yield* conversation.durableEvents).flatMap(({ id, msg }) =>
        ["task_started", "task_complete", "turn_aborted", "thread_rolled_back"].includes(msg.type)
          ? [`${msg.type} ${id}`]
          : [],
      )
      assert.deepStrictEqual(marks.slice(2), [
        "task_started b",
        "turn_aborted b",
        "thread_rolled_back revert",
        "task_started c",
        "task_complete c",
        "task_started d",
        ...marks.slice(8),
      ])
      assert.deepStrictEqual(texts(requests[2]?.input), ["a", "c"])
    }),
  )

  it.effect("drops what waits when it is submitted, and several reverts count what is left", () =>
    Effect.gen(function* () {
      const { conversation } = yield* open([answer("first"), answer("second"), Stream.never])
      for (const id of ["a", "b", "c"]) yield* speak(conversation, id)
      yield* conversation.submit(says("message d"), { id: "d", whileRunning: "wait" })
      yield* Effect.forEach(["c", "b", "c"], (turn) => revert(conversation, turn), {
        concurrency: "unbounded",
      })
      yield* settle
      const log = yield* conversation.durableEvents
      assert.deepStrictEqual(
        log.flatMap(({ msg }) => (msg.type === "thread_rolled_back" ? [msg.num_turns] : [])),
        [1, 1, 0],
      )
      assert.deepStrictEqual(
        log.flatMap(({ id, msg }) => (msg.type === "turn_aborted" ? [id] : [])).toSorted(),
        ["c", "d"],
      )
      assert.deepStrictEqual(texts(historyOf(log)), ["a"])
    }),
  )

  it.effect("holds when the conversation was evicted, and for the one that is loaded then", () => {
    const script = scripted(...three)
    return Effect.gen(function* () {
      const manager = yield* ConversationManager
      const { id } = yield* manager.create(settings)
      const conversation = yield* manager.get(id)
      for (const turn of ["a", "b"]) {
        yield* conversation.submit(says(`message ${turn}`), { id: turn })
        yield* settle
      }
      yield* conversation.submit({ type: "revert", turn_id: "b" })
      yield* manager.create(settings)
      assert.notInclude(yield* loadedIds(manager), id)
      assert.lengthOf(yield* listed(manager), 2)
      yield* conversation.submit(says("message c"), { id: "c" })
      yield* settle
      assert.deepStrictEqual(texts(script.requests.at(-1)?.input), ["a", "c"])
    }).pipe(Effect.provide(managerLayer(script, { maxLoaded: 1 })))
  })
})
