import type { EventMsg } from "@colloquy/protocol/EventMsg"
import type { Op } from "@colloquy/protocol/Op"
import { assert, describe, it } from "@effect/vitest"
import { ConversationClosed } from "../../src/ConversationErrors.ts"
import { decide } from "../../src/decider/Decide.ts"
import { maxWaiting } from "../../src/decider/InputQueue.ts"
import { environmentContext } from "../../src/decider/EnvironmentContext.ts"
import {
  submit,
  cancel,
  emit,
  advance,
  ended,
  failure,
  interruption,
  next,
  after,
  say,
  draft,
  inputOf,
  startOf,
  turnAborted,
  taskComplete,
  shutdownComplete,
  idle,
  running,
  withWaiting,
  stopping,
  nothing,
  turnOp,
  refusal,
} from "../decisions.ts"
import { says, settings } from "../support.ts"

describe("decide: an idle conversation", () => {
  it("starts a turn on user_input, whatever the mode", () => {
    for (const whileRunning of ["queue", "wait", "interrupt", "reject"] as const) {
      assert.deepStrictEqual(say(idle, submit(says("hi"), { whileRunning })), {
        events: startOf("0", "hi"),
        actions: [{ _tag: "StartTurn", id: "0" }],
        receipt: { id: "0", disposition: "started" },
      })
    }
  })

  it("accepts input without items and does nothing", () => {
    for (const op of [turnOp({ items: [] }), { type: "user_input", items: [] } as const]) {
      assert.deepStrictEqual(say(idle, submit(op)), {
        ...nothing,
        receipt: { id: "0", disposition: "none" },
      })
      assert.deepStrictEqual(decide(idle, submit(op)).state.settings, settings)
    }
  })

  it("records a changed environment for the model before a user_turn, and keeps the change", () => {
    const decision = decide(
      idle,
      submit(turnOp({ cwd: "/else", model: "other", effort: "low", summary: "none" })),
    )
    const changed = {
      ...settings,
      cwd: "/else",
      model: "other",
      effort: "low",
      summary: "none",
    } as const
    assert.deepStrictEqual(decision.events, [
      draft("0", { type: "raw_response_item", item: environmentContext(changed) }),
      ...startOf("0", "hi"),
    ])
    assert.deepStrictEqual(decision.state.settings, changed)
  })

  it("records no environment when a user_turn does not change it", () => {
    assert.deepStrictEqual(
      decide(idle, submit(turnOp({ model: "other" }))).events,
      startOf("0", "hi"),
    )
  })

  it("overrides the context of later turns: absent keeps, null clears", () => {
    const op = { type: "override_turn_context", approval_policy: "untrusted" } as const
    const low = { ...idle, settings: { ...settings, effort: "low" } } as const
    const kept = decide(low, submit(op))
    assert.deepStrictEqual(kept.state.settings, {
      ...settings,
      approvalPolicy: "untrusted",
      effort: "low",
    })
    assert.deepStrictEqual(kept.events, [
      draft("0", { type: "raw_response_item", item: environmentContext(kept.state.settings) }),
    ])
    assert.deepStrictEqual(kept.receipt, { id: "0", disposition: "none" })
    const cleared = decide(low, submit({ type: "override_turn_context", effort: null }))
    assert.deepStrictEqual([cleared.state.settings, cleared.events], [settings, []])
  })

  it("keeps the allowed questions until the op or another policy changes them", () => {
    const off = { sandbox: false, permissions: true, tool_servers: true }
    const switched = { ...idle, settings: { ...settings, approvalQuestions: off } }
    const { approvalPolicy } = settings
    const allowedAfter = (op: Op) => decide(switched, submit(op)).state.settings.approvalQuestions
    const change = { type: "override_turn_context" } as const
    const all = { sandbox: true, permissions: true, tool_servers: true }
    assert.deepStrictEqual(allowedAfter({ ...change, cwd: "/else" }), off)
    assert.deepStrictEqual(allowedAfter({ ...change, approval_policy: approvalPolicy }), off)
    assert.deepStrictEqual(allowedAfter(turnOp({})), off)
    assert.deepStrictEqual(allowedAfter(turnOp({ approval_questions: all })), all)
    assert.isUndefined(allowedAfter(turnOp({ approval_questions: null })))
    assert.deepStrictEqual(allowedAfter({ ...change, approval_questions: all }), all)
    assert.isUndefined(allowedAfter({ ...change, approval_questions: null }))
    assert.isUndefined(allowedAfter({ ...change, approval_policy: "untrusted" }))
  })

  it("has nothing to interrupt, cancel or advance", () => {
    assert.deepStrictEqual(say(idle, submit({ type: "interrupt" })), {
      ...nothing,
      receipt: { id: "0", disposition: "none" },
    })
    assert.deepStrictEqual(decide(idle, cancel("0")), { state: idle, ...nothing })
    assert.deepStrictEqual(decide(idle, emit("0", { type: "agent_message", message: "x" })), {
      state: idle,
      ...nothing,
    })
    assert.deepStrictEqual(say(idle, advance("0", { followUp: true })), {
      ...nothing,
      proceed: false,
    })
    assert.deepStrictEqual(say(idle, ended("0", failure)), nothing)
  })

  it("ends at once on shutdown and refuses everything after", () => {
    assert.deepStrictEqual(say(idle, submit({ type: "shutdown" }, { id: "bye" })), {
      events: [shutdownComplete("bye")],
      actions: [{ _tag: "Close" }],
      receipt: { id: "bye", disposition: "none" },
    })
    const closed = after(idle, submit({ type: "shutdown" }))
    for (const op of [says("x"), { type: "shutdown" } as const, { type: "interrupt" } as const]) {
      assert.deepStrictEqual(decide(closed, submit(op)), {
        state: closed,
        ...nothing,
        refused: new ConversationClosed(),
      })
    }
  })

  it("refuses unsupported ops and keeps their id free", () => {
    const ops: ReadonlyArray<Op> = [
      { type: "add_to_history", text: "x" },
      { type: "get_history_entry_request", offset: 0, log_id: 0 },
      { type: "get_path" },
      { type: "list_custom_prompts" },
    ]
    for (const op of ops) {
      assert.deepStrictEqual(decide(idle, submit(op, { id: "x" })), {
        state: idle,
        ...refusal("UnsupportedOp", `op \`${op.type}\` is not supported by this conversation`),
      })
    }
  })
})

describe("decide: a running turn", () => {
  it("adds queued input to the turn, under the turn's id", () => {
    for (const op of [says("b"), turnOp({ items: [{ type: "text", text: "b" }], cwd: "/else" })]) {
      const decision = decide(running, submit(op, { id: "b" }))
      assert.deepStrictEqual(decision.events, inputOf("a", "b"))
      assert.deepStrictEqual(decision.actions, [])
      assert.deepStrictEqual(decision.receipt, { id: "a", disposition: "joined" })
      assert.deepStrictEqual(decision.state.settings, settings)
      assert.strictEqual(next(decision).turn?.inputSeq, 6)
    }
  })

  it("queues input for later turns, in order", () => {
    assert.deepStrictEqual(say(running, submit(says("b"), { id: "b", whileRunning: "wait" })), {
      ...nothing,
      receipt: { id: "b", disposition: "waiting" },
    })
    assert.deepStrictEqual(
      withWaiting("b", "c").waiting.map(({ id }) => id),
      ["b", "c"],
    )
  })

  it("refuses input with reject, and the id stays free for a retry", () => {
    const input = submit(says("b"), { id: "b", whileRunning: "reject" })
    assert.deepStrictEqual(decide(running, input), {
      state: running,
      ...refusal("TurnRunning", "turn `a` is running"),
    })
  })

  it("queues at most 64 submissions, and a refused one changes nothing", () => {
    const full = withWaiting(...Array.from({ length: maxWaiting }, (_, i) => `w${i}`))
    assert.strictEqual(full.waiting.length, 64)
    for (const id of ["one-more", undefined]) {
      const input = submit(says("b"), { ...(id === undefined ? {} : { id }), whileRunning: "wait" })
      assert.deepStrictEqual(decide(full, input), {
        state: full,
        ...refusal("TooManyWaiting", "64 submissions are queued already, which is the limit"),
      })
    }
  })

  it("applies the context of a queued user_turn when that turn starts, not before", () => {
    const waits = after(
      running,
      submit(turnOp({ cwd: "/else" }), { id: "b", whileRunning: "wait" }),
    )
    assert.deepStrictEqual(waits.settings, settings)
    const over = decide(waits, advance("a", { lastMessage: "done" }))
    const changed = { ...settings, cwd: "/else" }
    assert.deepStrictEqual(over.events, [
      taskComplete("a", "done"),
      draft("b", { type: "raw_response_item", item: environmentContext(changed) }),
      ...startOf("b", "hi"),
    ])
    assert.deepStrictEqual(over.state.settings, changed)
  })

  it("records what the turn emits, and nothing of another turn", () => {
    const message: EventMsg = { type: "agent_message", message: "x" }
    assert.deepStrictEqual(say(running, emit("a", message, message)), {
      events: [draft("a", message), draft("a", message)],
      actions: [],
    })
    assert.deepStrictEqual(say(running, emit("b", message)), nothing)
  })

  it("sends another request for a follow-up or for input that the last one did not contain", () => {
    const seen = running.seq - 1
    const step = (fields: Parameters<typeof advance>[1]) => say(running, advance("a", fields))
    assert.deepStrictEqual(step({ sawSeq: seen, followUp: true }), { ...nothing, proceed: true })
    assert.deepStrictEqual(step({ sawSeq: seen - 1 }), { ...nothing, proceed: true })
    assert.deepStrictEqual(step({ sawSeq: seen, lastMessage: "x" }), {
      events: [taskComplete("a", "x")],
      actions: [],
      proceed: false,
    })
    const more = after(running, submit(says("b")))
    assert.deepStrictEqual(say(more, advance("a", { sawSeq: seen })).proceed, true)
    assert.deepStrictEqual(say(more, advance("a", { sawSeq: more.seq - 1 })).proceed, false)
    assert.deepStrictEqual(say(running, advance("z", { followUp: true })).proceed, false)
  })

  it("L5 ends a failed turn with error, then task_complete", () => {
    assert.deepStrictEqual(say(running, ended("a", failure)), {
      events: [draft("a", { type: "error", message: "boom" }), taskComplete("a", null)],
      actions: [],
    })
  })

  it("L5 ends an interrupted turn with turn_aborted alone", () => {
    for (const state of [running, stopping()]) {
      assert.deepStrictEqual(say(state, ended("a", interruption)), {
        events: [turnAborted("a")],
        actions: [],
      })
    }
  })

  it("L5 gives no second terminal event to a turn that has ended", () => {
    const over = after(running, advance("a", {}))
    assert.strictEqual(over.turn, undefined)
    assert.deepStrictEqual(say(over, ended("a", interruption)), nothing)
    assert.deepStrictEqual(say(over, cancel("a")), nothing)
    assert.deepStrictEqual(say(over, advance("a", {})), { ...nothing, proceed: false })
    assert.deepStrictEqual(say(running, ended("z", interruption)), nothing)
    assert.deepStrictEqual(say(running, ended("z", failure)), nothing)
  })

  it("starts the next waiting submission after every kind of end", () => {
    for (const end of [advance("a", {}), ended("a", failure), ended("a", interruption)]) {
      const decision = decide(withWaiting("b", "c"), end)
      assert.deepStrictEqual(decision.events.slice(-3), startOf("b", "b"))
      assert.deepStrictEqual(decision.actions, [{ _tag: "StartTurn", id: "b" }])
      assert.deepStrictEqual(
        next(decision).waiting.map(({ id }) => id),
        ["c"],
      )
      assert.strictEqual(next(decision).turn?.id, "b")
    }
  })
})
