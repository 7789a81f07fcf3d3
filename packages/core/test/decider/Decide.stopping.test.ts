import type { EventMsg } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import { numberDrafts, project, type State } from "../../src/decider/State.ts"
import { decide } from "../../src/decider/Decide.ts"
import {
  submit,
  cancel,
  advance,
  ended,
  failure,
  interruption,
  next,
  after,
  say,
  draft,
  turnAborted,
  taskComplete,
  shutdownComplete,
  idle,
  running,
  withWaiting,
  stopping,
  nothing,
  refusal,
} from "../decisions.ts"
import { says, usage } from "../support.ts"

describe("decide: interrupting", () => {
  it("interrupts the running turn once", () => {
    const decision = decide(running, cancel("a"))
    assert.deepStrictEqual([decision.events, decision.actions], [[], [{ _tag: "InterruptTurn" }]])
    assert.strictEqual(next(decision).turn?.aborting, "interrupted")
    assert.deepStrictEqual(say(stopping(), cancel("a")), nothing)
    assert.deepStrictEqual(say(stopping(), submit({ type: "interrupt" })), {
      ...nothing,
      receipt: { id: "0", disposition: "none" },
    })
  })

  it("L5 cancels a queued submission with its terminal event and leaves the others alone", () => {
    const decision = decide(withWaiting("b", "c"), cancel("b"))
    assert.deepStrictEqual([decision.events, decision.actions], [[turnAborted("b")], []])
    assert.deepStrictEqual(
      next(decision).waiting.map(({ id }) => id),
      ["c"],
    )
    assert.strictEqual(next(decision).turn?.id, "a")
  })

  it("does nothing when the cancelled submission is unknown or joined another turn", () => {
    const joined = after(withWaiting("b"), submit(says("x"), { id: "x" }))
    for (const id of ["x", "unknown", "0"]) {
      assert.deepStrictEqual(decide(joined, cancel(id)), { state: joined, ...nothing })
    }
  })

  it("L5 drops queued submissions on interrupt, each with its terminal event", () => {
    const decision = decide(withWaiting("b", "c"), submit({ type: "interrupt" }))
    assert.deepStrictEqual(decision.events, [turnAborted("b"), turnAborted("c")])
    assert.deepStrictEqual(decision.actions, [{ _tag: "InterruptTurn" }])
    assert.deepStrictEqual(next(decision).waiting, [])
    assert.strictEqual(next(decision).turn?.aborting, "interrupted")
  })

  it("sends no further request for a turn that is being interrupted", () => {
    assert.deepStrictEqual(say(stopping(), advance("a", { followUp: true })), {
      ...nothing,
      proceed: false,
    })
    assert.deepStrictEqual(say(stopping(), advance("a", {})), { ...nothing, proceed: false })
  })

  it("ends as interrupted when a failure races with the interrupt", () => {
    assert.deepStrictEqual(say(stopping(), ended("a", failure)), {
      events: [turnAborted("a")],
      actions: [],
    })
  })

  it("queues input that arrives while a turn is being interrupted", () => {
    const decision = decide(stopping(), submit(says("b"), { id: "b" }))
    assert.deepStrictEqual(
      [decision.events, decision.receipt],
      [[], { id: "b", disposition: "waiting" }],
    )
  })

  it("L5 shuts a running conversation down after the terminal event of its turn", () => {
    const decision = decide(withWaiting("b"), submit({ type: "shutdown" }, { id: "bye" }))
    assert.deepStrictEqual(
      [decision.events, decision.actions, decision.receipt],
      [[turnAborted("b")], [{ _tag: "InterruptTurn" }], { id: "bye", disposition: "none" }],
    )
    for (const end of [ended("a", interruption), ended("a", failure)]) {
      assert.deepStrictEqual(say(next(decision), end), {
        events: [turnAborted("a"), shutdownComplete("bye")],
        actions: [{ _tag: "Close" }],
      })
    }
  })

  it("L5 shuts down also while a turn is being interrupted already", () => {
    const decision = decide(stopping("b"), submit({ type: "shutdown" }, { id: "bye" }))
    assert.deepStrictEqual([decision.events, decision.actions], [[turnAborted("b")], []])
    assert.deepStrictEqual(say(next(decision), ended("a", interruption)).events, [
      turnAborted("a"),
      shutdownComplete("bye"),
    ])
  })
})

describe("submission ids", () => {
  const receiptOf = (state: State, id?: string) =>
    decide(state, submit({ type: "interrupt" }, id === undefined ? {} : { id }))

  it("counts automatic ids from 0 and skips chosen ones", () => {
    let state: State = after(idle, submit({ type: "interrupt" }, { id: "1" }))
    const ids = [0, 1, 2].map(() => {
      const decision = receiptOf(state)
      state = next(decision)
      return decision.receipt?.id
    })
    assert.deepStrictEqual(ids, ["0", "2", "3"])
  })

  it("refuses an automatic id that was used before, and nothing changes", () => {
    const state = after(idle, submit(says("hi")))
    assert.deepStrictEqual(receiptOf(state, "0"), {
      state,
      ...refusal("DuplicateId", "submission id `0` is already in use"),
    })
  })

  it("accepts ids that only resemble a used number", () => {
    const state = after(idle, submit({ type: "interrupt" }), submit({ type: "interrupt" }))
    for (const id of ["-1", "0.5", "00", "", "-Infinity", "1e0", " 1", "2"]) {
      assert.deepStrictEqual(receiptOf(state, id).receipt, { id, disposition: "none" }, id)
    }
  })
})

describe("numberDrafts and project", () => {
  const text: EventMsg = { type: "agent_message", message: "x" }
  const piece: EventMsg = { type: "agent_message_delta", delta: "x" }

  it("L4 numbers durable events without a gap and deltas by the event they follow", () => {
    assert.deepStrictEqual(
      numberDrafts(
        5,
        [piece, text, piece, piece, text].map((msg) => draft("a", msg)),
      ).map(({ seq }) => seq),
      [4, 5, 5, 5, 6],
    )
  })

  it("folds durable events into the state and ignores deltas", () => {
    assert.strictEqual(project(running, { seq: 4, id: "a", msg: piece }), running)
    assert.deepStrictEqual(project(running, { seq: 5, id: "a", msg: text }), {
      ...running,
      seq: 6,
    })
  })

  it("knows the running turn by its start and end", () => {
    const started = project(idle, {
      seq: 2,
      id: "t",
      msg: { type: "task_started", model_context_window: null },
    })
    assert.deepStrictEqual(started, {
      ...idle,
      seq: 3,
      turn: { id: "t", inputSeq: 2, compacts: true },
    })
    for (const msg of [taskComplete("t", null).msg, turnAborted("t").msg]) {
      assert.strictEqual(project(started, { seq: 3, id: "t", msg }).turn, undefined)
      assert.deepStrictEqual(project(started, { seq: 3, id: "other", msg }), {
        ...started,
        seq: 4,
      })
    }
  })

  it("keeps the usage that was reported last", () => {
    const info = {
      total_token_usage: usage(10, 5),
      last_token_usage: usage(1, 1),
      model_context_window: null,
    }
    const counted = project(idle, { seq: 2, id: "a", msg: { type: "token_count", info } })
    assert.deepStrictEqual(counted.usage, usage(10, 5))
    assert.deepStrictEqual(
      project(counted, { seq: 3, id: "a", msg: { type: "token_count", info: null } }).usage,
      usage(10, 5),
    )
  })
})
