import type { Op } from "@colloquy/protocol/Op"
import { assert, describe, it } from "@effect/vitest"
import { decide } from "../../src/decider/Decide.ts"
import { maxWaiting, queueOf } from "../../src/decider/InputQueue.ts"
import { isIdle, type State } from "../../src/decider/State.ts"
import {
  advance,
  after,
  cancel,
  draft,
  ended,
  failure,
  idle,
  interruption,
  next,
  refusal,
  running,
  startOf,
  submit,
  taskComplete,
  turnAborted,
} from "../decisions.ts"
import { says } from "../support.ts"

const add = (text: string) => submit(says(text), { id: text, whileRunning: "enqueue" })
const wait = (text: string) => submit(says(text), { id: text, whileRunning: "wait" })
const queued = (...texts: ReadonlyArray<string>): State => after(running, ...texts.map(add))
const order = (state: State) => queueOf(state).map(({ id }) => id)
const changed = (id: string, ...ids: ReadonlyArray<string>) =>
  draft(id, { type: "queue_changed", ids })
const interrupted = (state: State): State => after(state, cancel("a"), ended("a", interruption))
const op = (fields: Op) => submit(fields, { id: "op" })

describe("decide: the queue of input", () => {
  it("holds input while a turn runs and starts the first when it completes", () => {
    const decision = decide(queued("b"), add("c"))
    assert.deepStrictEqual(decision.receipt, { id: "c", disposition: "waiting" })
    assert.deepStrictEqual(decision.events, [changed("c", "b", "c")])
    const over = decide(next(decision), advance("a", { lastMessage: "done" }))
    assert.deepStrictEqual(over.events, [
      taskComplete("a", "done"),
      changed("b", "c"),
      ...startOf("b", "b"),
    ])
    assert.deepStrictEqual(order(next(over)), ["c"])
  })

  it("starts input at once without a running turn", () => {
    const decision = decide(idle, add("b"))
    assert.deepStrictEqual(decision.receipt, { id: "b", disposition: "started" })
    assert.deepStrictEqual(decision.events, [changed("b"), ...startOf("b", "b")])
  })

  it("is held after a turn that was interrupted or failed, and the conversation is idle then", () => {
    for (const state of [
      interrupted(queued("b", "c")),
      after(queued("b", "c"), ended("a", failure)),
      after(queued("b", "c"), submit({ type: "interrupt" }), ended("a", interruption)),
    ]) {
      assert.isUndefined(state.turn)
      assert.deepStrictEqual(order(state), ["b", "c"])
      assert.isTrue(isIdle(state))
    }
  })

  it("does not hold up input that waits for the end of the turn", () => {
    const state = interrupted(after(queued("b"), wait("w")))
    assert.strictEqual(state.turn?.id, "w")
    assert.deepStrictEqual(order(state), ["b"])
    assert.strictEqual(after(state, advance("w", {})).turn?.id, "b")
  })

  it("continues with more input, in its order", () => {
    const decision = decide(interrupted(queued("b")), add("c"))
    assert.deepStrictEqual(decision.receipt, { id: "c", disposition: "waiting" })
    assert.deepStrictEqual(decision.events, [
      changed("c", "b", "c"),
      changed("b", "c"),
      ...startOf("b", "b"),
    ])
  })

  it("refuses more than its limit", () => {
    const full = queued(...Array.from({ length: maxWaiting }, (_, i) => `q${i}`))
    assert.deepStrictEqual(decide(full, add("more")), {
      state: full,
      ...refusal("TooManyWaiting", "64 submissions are queued already, which is the limit"),
    })
  })
})

describe("decide: edit_queued", () => {
  it("replaces the input, which keeps its place", () => {
    const items = [{ type: "text", text: "new" }] as const
    const decision = decide(queued("b", "c"), op({ type: "edit_queued", id: "b", items }))
    assert.deepStrictEqual(decision.events, [changed("op", "b", "c")])
    assert.deepStrictEqual(queueOf(next(decision))[0]?.items, items)
  })

  it("refuses empty input, and what is not in the queue", () => {
    const state = after(queued("b"), wait("w"))
    const edit = (id: string, text?: string) =>
      decide(
        state,
        op({ type: "edit_queued", id, items: text === undefined ? [] : [{ type: "text", text }] }),
      ).refused
    assert.deepInclude(edit("b"), { reason: "BadQueueChange" })
    assert.deepInclude(edit("w", "new"), { reason: "NotQueued" })
    assert.deepInclude(edit("a", "new"), { reason: "NotQueued" })
  })
})

describe("decide: remove_queued", () => {
  it("removes the submission, which ends as interrupted", () => {
    const decision = decide(queued("b", "c"), op({ type: "remove_queued", id: "b" }))
    assert.deepStrictEqual(decision.events, [turnAborted("b"), changed("b", "c")])
    assert.deepStrictEqual(decision.receipt, { id: "op", disposition: "none" })
    assert.deepStrictEqual(decide(queued("b", "c"), cancel("b")).events, decision.events)
  })

  it("refuses what is not in the queue", () => {
    const state = after(queued("b"), wait("w"))
    for (const id of ["a", "w", "x"]) {
      const decision = decide(state, op({ type: "remove_queued", id }))
      assert.deepStrictEqual(decision, {
        state,
        ...refusal("NotQueued", `submission \`${id}\` is not in the queue`),
      })
    }
  })
})

describe("decide: reorder_queue", () => {
  it("changes the order of the queue and leaves other submissions where they are", () => {
    const state = after(queued("b"), wait("w"), add("c"), add("d"))
    const decision = decide(state, op({ type: "reorder_queue", ids: ["d", "b", "c"] }))
    assert.deepStrictEqual(decision.events, [changed("op", "d", "b", "c")])
    assert.deepStrictEqual(
      next(decision).waiting.map(({ id }) => id),
      ["d", "w", "b", "c"],
    )
  })

  it("refuses an order that does not name each submission once", () => {
    const reasonOf = (...ids: ReadonlyArray<string>) =>
      decide(queued("b", "c"), op({ type: "reorder_queue", ids })).refused
    assert.deepInclude(reasonOf("b", "x"), { reason: "NotQueued" })
    assert.deepInclude(reasonOf("b"), { reason: "BadQueueChange" })
    assert.deepInclude(reasonOf("b", "c", "b"), { reason: "BadQueueChange" })
    assert.deepInclude(reasonOf("b", "b"), { reason: "BadQueueChange" })
  })
})

describe("decide: start_queued", () => {
  it("starts the first submission of a held queue, or the chosen one", () => {
    const held = interrupted(queued("b", "c"))
    const first = decide(held, op({ type: "start_queued" }))
    assert.deepStrictEqual(first.receipt, { id: "b", disposition: "started" })
    assert.deepStrictEqual(first.events, [changed("b", "c"), ...startOf("b", "b")])
    const chosen = decide(held, op({ type: "start_queued", id: "c" }))
    assert.deepStrictEqual(chosen.events, [changed("c", "b"), ...startOf("c", "c")])
  })

  it("is refused while a turn runs, for an empty queue, and for what is not in it", () => {
    const reasonOf = (state: State, id?: string) =>
      decide(state, op({ type: "start_queued", ...(id === undefined ? {} : { id }) })).refused
    assert.deepInclude(reasonOf(queued("b")), { reason: "TurnRunning" })
    assert.deepInclude(reasonOf(idle), { reason: "NotQueued", message: "the queue is empty" })
    assert.deepInclude(reasonOf(interrupted(queued("b")), "x"), { reason: "NotQueued" })
  })
})
