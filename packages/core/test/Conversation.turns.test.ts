/** Turns whose end is waited for from their submission on. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { answer, isEnd, modelError, open, says, settle, takeUntil } from "./support.ts"

const hanging = Stream.never

describe("Conversation.runTurn", () => {
  it.effect("L5 resolves with the end of the turn that its receipt names", () =>
    Effect.gen(function* () {
      const { close, conversation, listener } = yield* open([answer("a"), answer("b")])
      const first = yield* conversation.runTurn(says("one"))
      const second = yield* conversation.runTurn(says("two"))
      assert.deepStrictEqual(
        [first, second].map(({ end }) => end?.msg),
        [
          { type: "task_complete", last_agent_message: "a" },
          { type: "task_complete", last_agent_message: "b" },
        ],
      )
      const [last] = (yield* takeUntil(listener, isEnd)).slice(-1)
      assert.strictEqual(first.end?.seq, last?._tag === "Event" ? last.event.seq : undefined)
      yield* close
    }),
  )

  it.effect("names the error of a turn that failed", () =>
    Effect.gen(function* () {
      const { close, conversation } = yield* open([Stream.fail(modelError({ retryable: false }))])
      const { end } = yield* conversation.runTurn(says("hi"))
      assert.include(end?.error, "boom")
      yield* close
    }),
  )

  it.effect("L10 resolves with the end of a turn that is over, and starts none", () =>
    Effect.gen(function* () {
      const { close, conversation, requests } = yield* open([answer("a"), answer("b")])
      const once = yield* conversation.runTurn(says("hi"), { id: "t" })
      yield* conversation.runTurn(says("other"))
      assert.deepStrictEqual(yield* conversation.runTurn(says("hi"), { id: "t" }), once)
      assert.lengthOf(requests, 2)
      yield* close
    }),
  )

  it.effect("L10 waits for the end of a turn that runs where its input is submitted again", () =>
    Effect.gen(function* () {
      const { close, conversation } = yield* open([hanging])
      const fibers = yield* Effect.forEach(["once", "again"], () =>
        Effect.forkChild(conversation.runTurn(says("hi"), { id: "t" }), { startImmediately: true }),
      )
      yield* settle
      yield* conversation.submit({ type: "interrupt" })
      const [once, again] = yield* Effect.forEach(fibers, Fiber.join)
      assert.deepStrictEqual(again, once)
      assert.deepStrictEqual(again?.end?.msg, { type: "turn_aborted", reason: "interrupted" })
      yield* close
    }),
  )

  it.effect("has no end where the op starts no turn, however often it is submitted", () =>
    Effect.gen(function* () {
      const { close, conversation } = yield* open([answer("a")])
      for (const _ of ["once", "again"]) {
        const { end, receipt } = yield* conversation.runTurn({ type: "interrupt" }, { id: "stop" })
        assert.deepStrictEqual([receipt.disposition, end], ["none", undefined])
      }
      yield* close
    }),
  )

  it.effect("fails where the conversation ends before the turn does", () =>
    Effect.gen(function* () {
      const { close, conversation } = yield* open([answer("a")])
      yield* close
      const error = yield* Effect.flip(conversation.runTurn(says("hi")))
      assert.strictEqual(error._tag, "ConversationClosed")
    }),
  )

  it.effect("leaves the turn running where its caller is interrupted, and detaches", () =>
    Effect.gen(function* () {
      const { close, conversation, listener } = yield* open([hanging])
      const waiting = yield* Effect.forkChild(conversation.runTurn(says("hi")), {
        startImmediately: true,
      })
      yield* settle
      yield* Fiber.interrupt(waiting)
      yield* settle
      assert.isDefined((yield* conversation.state).turn)
      yield* conversation.submit({ type: "interrupt" })
      yield* takeUntil(listener, isEnd)
      yield* close
    }),
  )
})
