import type { Op } from "@colloquy/protocol/Op"
import type { InputItem } from "@colloquy/protocol/ResponseItem"
import { assert, describe, it } from "@effect/vitest"
import { decide } from "../../src/decider/Decide.ts"
import { maxItems, maxTextLength } from "../../src/decider/InputLength.ts"
import { maxWaiting } from "../../src/decider/InputQueue.ts"
import {
  after,
  cancel,
  ended,
  idle,
  inputOf,
  interruption,
  next,
  nothing,
  refusal,
  running,
  say,
  startOf,
  stopping,
  submit,
  turnAborted,
  turnOp,
  withWaiting,
} from "../decisions.ts"
import { says } from "../support.ts"

const steer = (text: string) => submit(says(text), { id: text, whileRunning: "steer" })
const replace = (text: string) => submit(says(text), { id: text, whileRunning: "interrupt" })
const ids = (waiting: ReadonlyArray<{ readonly id: string }>) => waiting.map(({ id }) => id)

describe("decide: steer", () => {
  it("joins the running turn", () => {
    const decision = decide(withWaiting("w"), steer("b"))
    assert.deepStrictEqual(decision.events, inputOf("a", "b"))
    assert.deepStrictEqual(decision.receipt, { id: "a", disposition: "joined" })
    assert.strictEqual(next(decision).turn?.inputSeq, 6)
    assert.deepStrictEqual(ids(next(decision).waiting), ["w"])
  })

  it("is refused without a turn to join, and the id stays free", () => {
    assert.deepStrictEqual(decide(idle, steer("b")), {
      state: idle,
      ...refusal("NoTurnRunning", "no turn is running"),
    })
    const stops = stopping("w")
    assert.deepStrictEqual(decide(stops, steer("b")), {
      state: stops,
      ...refusal("NoTurnRunning", "turn `a` is being interrupted"),
    })
  })
})

describe("decide: input that interrupts", () => {
  it("interrupts the running turn as replaced and runs next, before queued submissions", () => {
    const decision = decide(withWaiting("w"), replace("b"))
    assert.deepStrictEqual(
      [decision.events, decision.actions, decision.receipt],
      [[], [{ _tag: "InterruptTurn" }], { id: "b", disposition: "waiting" }],
    )
    const over = decide(next(decision), ended("a", interruption))
    assert.deepStrictEqual(over.events, [turnAborted("a", "replaced"), ...startOf("b", "b")])
    assert.deepStrictEqual(over.actions, [{ _tag: "StartTurn", id: "b" }])
    assert.deepStrictEqual(ids(next(over).waiting), ["w"])
  })

  it("keeps the reason of a turn that is being interrupted and still runs next", () => {
    const decision = decide(stopping("w"), replace("b"))
    assert.deepStrictEqual([decision.events, decision.actions], [[], []])
    assert.deepStrictEqual(say(next(decision), ended("a", interruption)).events, [
      turnAborted("a"),
      ...startOf("b", "b"),
    ])
  })

  it("runs the last of two first and queues the other after it", () => {
    const both = after(running, replace("b"), replace("c"))
    assert.deepStrictEqual(ids(both.waiting), ["c", "b"])
    const cancelled = decide(both, cancel("b"))
    assert.deepStrictEqual(cancelled.events, [turnAborted("b")])
  })

  it("is refused, and interrupts nothing, when the queue is full", () => {
    const full = withWaiting(...Array.from({ length: maxWaiting }, (_, i) => `w${i}`))
    assert.deepStrictEqual(decide(full, replace("b")), {
      state: full,
      ...refusal("TooManyWaiting", "64 submissions are queued already, which is the limit"),
    })
  })
})

describe("decide: a repeated submission", () => {
  it("gets the receipt of the first one and does nothing, whatever became of it", () => {
    const ops: ReadonlyArray<readonly [Op, "queue" | "wait" | "interrupt"]> = [
      [says("x"), "queue"],
      [says("x"), "wait"],
      [says("x"), "interrupt"],
      [turnOp({ cwd: "/else" }), "wait"],
      [{ type: "user_input", items: [] }, "queue"],
      [{ type: "override_turn_context", cwd: "/else" }, "queue"],
      [{ type: "interrupt" }, "queue"],
    ]
    for (const [op, whileRunning] of ops) {
      for (const state of [idle, running]) {
        const first = decide(state, submit(op, { id: "x", whileRunning }))
        const taken = next(first)
        for (const again of [op, says("other"), { type: "shutdown" } as const]) {
          assert.deepStrictEqual(decide(taken, submit(again, { id: "x", whileRunning: "steer" })), {
            state: taken,
            ...nothing,
            ...(first.receipt === undefined ? {} : { receipt: first.receipt }),
          })
        }
      }
    }
  })

  it("starts a turn for a later submission with the id of a refused one", () => {
    const refused = submit(says("x"), { id: "x", whileRunning: "reject" })
    assert.strictEqual(decide(running, refused).refused?._tag, "SubmissionRefused")
    assert.deepStrictEqual(
      decide(after(running, refused), submit(says("x"), { id: "x" })).receipt,
      {
        id: "a",
        disposition: "joined",
      },
    )
  })
})

describe("decide: the size of input", () => {
  const items = (count: number, item: InputItem = { type: "text", text: "x" }) =>
    Array.from({ length: count }, () => item)
  const big = "x".repeat(maxTextLength / 2)
  const ofBoth = (list: ReadonlyArray<InputItem>): ReadonlyArray<Op> => [
    { type: "user_input", items: list },
    turnOp({ items: list, cwd: "/else" }),
  ]

  it("accepts input that just reaches the limits", () => {
    for (const list of [items(maxItems), items(2, { type: "image", image_url: big })]) {
      for (const op of ofBoth(list)) {
        assert.strictEqual(decide(idle, submit(op)).receipt?.disposition, "started")
      }
    }
  })

  it("refuses more items, naming the limit, and nothing changes", () => {
    for (const op of [...ofBoth(items(1025)), ...ofBoth(items(10_000))]) {
      const count = op.type === "user_input" || op.type === "user_turn" ? op.items.length : 0
      for (const state of [idle, running]) {
        assert.deepStrictEqual(decide(state, submit(op, { id: "x" })), {
          state,
          ...refusal("TooLarge", `${count} items; at most 1024 are accepted at once`),
        })
      }
    }
  })

  it("refuses more text, naming the limit, in every kind of item", () => {
    const one: ReadonlyArray<InputItem> = [
      { type: "text", text: `${big}${big}` },
      { type: "image", image_url: `${big}${big}` },
      { type: "local_image", path: `${big}${big}` },
    ]
    for (const item of one) {
      for (const op of ofBoth([item, { type: "text", text: "x" }])) {
        assert.deepStrictEqual(decide(idle, submit(op)), {
          state: idle,
          ...refusal(
            "TooLarge",
            "67108865 UTF-16 code units of text; at most 67108864 are accepted at once",
          ),
        })
      }
    }
  })
})
