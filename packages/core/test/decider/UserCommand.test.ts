/** A command of the user, as it is decided: a turn of its own, now or later. */
import { assert, describe, it } from "@effect/vitest"
import { decide } from "../../src/decider/Decide.ts"
import type { WhileRunning } from "../../src/decider/Decision.ts"
import {
  advance,
  after,
  idle,
  inputOf,
  next,
  refusal,
  running,
  say,
  submit,
  turnAborted,
} from "../decisions.ts"
import { says } from "../support.ts"

const run = (whileRunning: WhileRunning, id = "c") =>
  submit({ type: "run_user_shell_command", command: "ls" }, { id, whileRunning })

describe("decide: a command of the user", () => {
  it("starts a turn whose first event names it", () => {
    const decision = decide(idle, run("queue"))
    const [started] = decision.events
    assert.deepInclude(started?.msg, { type: "task_started", user_shell_command: "ls" })
    assert.lengthOf(decision.events, 1)
    assert.deepStrictEqual(decision.actions, [{ _tag: "StartTurn", id: "c", command: "ls" }])
    assert.deepInclude(next(decision).turn, { id: "c", compacts: false, runsCommand: true })
  })

  it("never joins a turn: it waits, is refused, or interrupts", () => {
    for (const whileRunning of ["queue", "wait", "enqueue", "interrupt"] as const) {
      const { receipt, state } = decide(running, run(whileRunning))
      assert.deepStrictEqual(receipt, { id: "c", disposition: "waiting" }, whileRunning)
      assert.deepStrictEqual(
        state.waiting.filter(({ id }) => id === "c"),
        [{ id: "c", items: [], command: "ls" }],
        whileRunning,
      )
    }
    assert.deepStrictEqual(
      say(running, run("reject")),
      refusal("TurnRunning", "turn `a` is running"),
    )
    assert.deepStrictEqual(
      say(running, run("steer")),
      refusal("NoTurnRunning", "a command of the user runs as a turn of its own"),
    )
  })

  it("input joins its turn, which then needs a request; without it the turn completes", () => {
    const started = after(idle, run("queue"))
    const seq = started.turn?.inputSeq ?? -1
    const completed = decide(started, advance("c", { sawSeq: seq }))
    assert.strictEqual(completed.proceed, false)
    assert.deepStrictEqual(
      completed.events.map(({ msg }) => msg.type),
      ["task_complete"],
    )
    const joined = decide(started, submit(says("b"), { id: "b" }))
    assert.deepStrictEqual(joined.events, inputOf("c", "b"))
    const asked = decide(next(joined), advance("c", { sawSeq: seq }))
    assert.strictEqual(asked.proceed, true)
    assert.isUndefined(next(joined).turn?.runsCommand)
  })

  it("a queued one is dropped by an interrupt, with its terminal event", () => {
    const waiting = after(running, run("wait"))
    const { events } = decide(waiting, submit({ type: "interrupt" }))
    assert.deepStrictEqual(events, [turnAborted("c")])
  })
})
