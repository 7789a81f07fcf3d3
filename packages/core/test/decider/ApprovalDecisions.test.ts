import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import type { Unattended, Verdict } from "../../src/approvals/Approval.ts"
import { requestEvent } from "../../src/question/ApprovalEvents.ts"
import { maxOpen } from "../../src/decider/ApprovalBook.ts"
import type { State } from "../../src/decider/State.ts"
import { decide } from "../../src/decider/Decide.ts"
import type { Input } from "../../src/decider/Decision.ts"
import {
  asks,
  exec,
  execAnswer,
  execGrant,
  patch,
  patchAnswer,
  requested,
  resolved,
  tool,
  toolAnswer,
} from "../approvals.ts"
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
  nothing,
  refusal,
  running,
  say,
  shutdownComplete,
  startOf,
  stopping,
  submit,
  taskComplete,
  turnAborted,
} from "../decisions.ts"
import { says } from "../support.ts"

const attend: Input = { _tag: "ListenersChanged", by: 1, answers: "all" }
const leave: Input = { _tag: "ListenersChanged", by: -1, answers: "all" }
const expire = (number: number): Input => ({ _tag: "Expire", number })
const withdraw = (number: number): Input => ({ _tag: "Withdraw", number })

const attended = after(running, attend)
const asked = after(attended, asks(0, exec("c")))
const withSetting = (unattended: Unattended): State => ({
  ...running,
  settings: { ...running.settings, unattended },
})

const settle = (number: number, decision: Verdict["decision"], reason: Verdict["reason"]) =>
  ({ _tag: "ResolveQuestion", number, verdict: { decision, reason } }) as const
const deadline = (number: number, after = Duration.minutes(10)) =>
  ({ _tag: "StartDeadline", number, after }) as const
/** The decision that resolves a question: its event and the verdict for its tool, and nothing else. */
const closes = (
  number: number,
  callId: string,
  decision: Verdict["decision"],
  reason: Verdict["reason"],
  grant?: string,
) => ({
  events: [draft("a", resolved(callId, decision, reason, grant))],
  actions: [settle(number, decision, reason)],
})

describe("approvals: asking", () => {
  it("L7 asks a question while a listener can answer, with a deadline of ten minutes", () => {
    assert.deepStrictEqual(say(attended, asks(0, exec("c"))), {
      events: [draft("a", requested("c"))],
      actions: [deadline(0)],
    })
    const request = patch("p", { reason: "why", grantRoot: "/work" })
    assert.deepStrictEqual(say(asked, asks(1, request)), {
      events: [draft("a", requestEvent(request, asked.settings))],
      actions: [deadline(1)],
    })
    const brief = {
      ...attended,
      settings: { ...attended.settings, approvalDeadline: Duration.seconds(5) },
    }
    assert.deepStrictEqual(say(brief, asks(0, exec("c"))).actions, [
      deadline(0, Duration.seconds(5)),
    ])
  })

  it("L7 denies at once, without a request, when no listener can answer", () => {
    for (const state of [running, withSetting("deny"), after(attended, leave)]) {
      assert.deepStrictEqual(say(state, asks(0, exec("c"))), closes(0, "c", "denied", "unattended"))
    }
  })

  it("L7 lets a rule decide when no listener can answer, and only then", () => {
    const rule = { allow: (request: { readonly callId: string }) => request.callId === "c" }
    const state = withSetting(rule)
    assert.deepStrictEqual(say(state, asks(0, exec("c"))), closes(0, "c", "approved", "unattended"))
    assert.deepStrictEqual(say(state, asks(0, patch("d"))), closes(0, "d", "denied", "unattended"))
    assert.deepStrictEqual(say(after(state, attend), asks(0, exec("c"))).actions, [deadline(0)])
  })

  it("L7 fails closed when the rule throws or returns anything but true", () => {
    const throws = withSetting({
      allow: () => {
        throw new Error("secret")
      },
    })
    assert.deepStrictEqual(say(throws, asks(0, exec("c"))), closes(0, "c", "denied", "failed"))
    const truthy = withSetting({ allow: () => "yes" as unknown as boolean })
    assert.deepStrictEqual(say(truthy, asks(0, exec("c"))), closes(0, "c", "denied", "unattended"))
  })

  it("L7 parks a question without a deadline, which starts when a listener that can answer is attached", () => {
    const parked = decide(withSetting("park"), asks(0, exec("c")))
    assert.deepStrictEqual([parked.events, parked.actions], [[draft("a", requested("c"))], []])
    const came = decide(next(parked), attend)
    assert.deepStrictEqual([came.events, came.actions], [[], [deadline(0)]])
    assert.deepStrictEqual(say(next(came), attend), nothing)
    assert.deepStrictEqual(say(next(came), execAnswer("c", "approved")).actions, [
      settle(0, "approved", "answered"),
    ])
    assert.deepStrictEqual(say(next(parked), execAnswer("c", "approved")).actions, [
      settle(0, "approved", "answered"),
    ])
  })

  it("L7 keeps a question pending when the last listener that can answer detaches", () => {
    assert.deepStrictEqual(say(asked, leave), nothing)
    assert.deepStrictEqual(after(asked, leave).approvals.open, asked.approvals.open)
    assert.deepStrictEqual(say(after(asked, leave), attend), nothing)
  })

  it("L7 denies the question of a turn that has ended or is being interrupted, without an event", () => {
    const stops = after(stopping(), attend)
    for (const state of [stops, after(idle, attend), after(stops, ended("a", interruption))]) {
      assert.deepStrictEqual(say(state, asks(0, exec("c"))), {
        ...nothing,
        actions: [settle(0, "denied", "withdrawn")],
      })
    }
    assert.deepStrictEqual(
      say(after(attended, submit({ type: "shutdown" })), asks(0, exec("c"))).actions,
      [settle(0, "denied", "shutdown")],
    )
  })

  it("L7 denies a second question of one call, and one more than 64", () => {
    assert.deepStrictEqual(say(asked, asks(1, patch("c"))), closes(1, "c", "denied", "failed"))
    const full = after(
      attended,
      ...Array.from({ length: maxOpen }, (_, i) => asks(i, exec(`c${i}`))),
    )
    assert.deepStrictEqual(say(full, asks(64, exec("x"))), closes(64, "x", "denied", "failed"))
  })
})

describe("approvals: forms", () => {
  it("L7 a form that is pending since a restart is declined when only listeners for approvals attached in time", () => {
    const expecting: State = {
      ...running,
      approvals: { ...running.approvals, inGrace: true },
    }
    const form = { server: "s", message: "m", requestedSchema: {} }
    const put = after(
      expecting,
      { _tag: "ListenersChanged", by: 1, answers: "approvals" },
      { _tag: "Ask", turnId: "a", number: 0, request: { _tag: "Elicitation", ...form } },
      asks(1, exec("c")),
    )
    assert.deepStrictEqual(
      put.approvals.open.map(({ parked }) => parked),
      [true, false],
    )
    const { actions, state } = decide(put, { _tag: "GraceEnded" })
    assert.deepStrictEqual(actions, [settle(0, "denied", "unattended")])
    assert.deepStrictEqual(
      state.approvals.open.map(({ number }) => number),
      [1],
    )
    const both = after(expecting, attend)
    assert.deepStrictEqual(
      [both.approvals.inGrace, both.approvals.approvalListeners, both.approvals.formListeners],
      [undefined, 1, 1],
    )
  })
})

describe("approvals: answering", () => {
  const receipt = { receipt: { id: "0", disposition: "none" } } as const

  it("L7 accepts the first answer, by call id or by the id of the turn", () => {
    for (const id of ["c", "a"]) {
      for (const decision of ["approved", "denied"] as const) {
        assert.deepStrictEqual(say(asked, execAnswer(id, decision)), {
          ...closes(0, "c", decision, "answered"),
          ...receipt,
        })
      }
    }
    const patched = after(attended, asks(0, patch("p")))
    assert.deepStrictEqual(say(patched, patchAnswer("p", "approved")), {
      ...closes(0, "p", "approved", "answered"),
      ...receipt,
    })
  })

  it("L7 refuses every later answer and names the verdict", () => {
    const closed = after(asked, execAnswer("c", "denied"))
    for (const answer of [
      execAnswer("c", "approved"),
      execAnswer("a", "approved"),
      patchAnswer("c", "approved"),
    ]) {
      assert.deepStrictEqual(decide(closed, answer), {
        state: closed,
        ...refusal(
          "ClosedApproval",
          "the question of call `c` was resolved already: denied (answered)",
        ),
      })
    }
    assert.deepStrictEqual(say(closed, expire(0)), nothing)
    assert.deepStrictEqual(say(closed, withdraw(0)), nothing)
    const expired = after(asked, expire(0))
    assert.deepStrictEqual(
      say(expired, execAnswer("c", "approved")).refused?.message,
      "the question of call `c` was resolved already: denied (expired)",
    )
  })

  it("L7 refuses an answer to an unknown question, to another kind, and to one of several", () => {
    assert.deepStrictEqual(
      say(asked, execAnswer("x", "approved")),
      refusal("UnknownApproval", "no question has the id `x`"),
    )
    assert.deepStrictEqual(
      say(idle, execAnswer("c", "approved")),
      refusal("UnknownApproval", "no question has the id `c`"),
    )
    assert.deepStrictEqual(
      say(asked, patchAnswer("c", "approved")),
      refusal(
        "ForeignApproval",
        "the question of call `c` asks for exec_approval, not patch_approval",
      ),
    )
    const both = after(asked, asks(1, patch("p")))
    assert.deepStrictEqual(
      say(both, execAnswer("p", "approved")),
      refusal(
        "ForeignApproval",
        "the question of call `p` asks for patch_approval, not exec_approval",
      ),
    )
    assert.deepStrictEqual(
      say(both, execAnswer("a", "approved")),
      refusal("UnknownApproval", "2 questions of turn `a` are pending; expected the id of a call"),
    )
    assert.deepStrictEqual(say(both, patchAnswer("p", "approved")).actions, [
      settle(1, "approved", "answered"),
    ])
    const refund = after(asked, asks(1, tool("r")))
    assert.deepStrictEqual(
      say(refund, execAnswer("r", "approved")),
      refusal(
        "ForeignApproval",
        "the question of call `r` asks for tool_approval, not exec_approval",
      ),
    )
    assert.deepStrictEqual(say(refund, toolAnswer("r", "approved")).actions, [
      settle(1, "approved", "answered"),
    ])
  })

  it("asks again when a provider repeats a call id", () => {
    const again = after(asked, execAnswer("c", "denied"), asks(1, exec("c")))
    assert.deepStrictEqual(say(again, execAnswer("c", "approved")).actions, [
      settle(1, "approved", "answered"),
    ])
  })

  it("L7 applies an answer that names its question to no later question of the same call", () => {
    const to = (question: number): Input =>
      submit({ type: "exec_approval", id: "c", decision: "approved", question })
    const first = attended.seq
    assert.deepStrictEqual(say(asked, to(first)).actions, [settle(0, "approved", "answered")])
    const again = after(asked, expire(0), asks(1, exec("c")))
    assert.deepStrictEqual(
      say(again, to(first)),
      refusal("ClosedApproval", "the question of call `c` was resolved already: denied (expired)"),
    )
    assert.deepStrictEqual(say(again, to(first + 2)).actions, [settle(1, "approved", "answered")])
    assert.deepStrictEqual(
      say(asked, to(first + 1)),
      refusal("UnknownApproval", "no question has the id `c`"),
    )
  })

  it("L7 treats an unreadable answer as a denial, with that reason", () => {
    for (const because of ["malformed", "failed"] as const) {
      for (const decision of ["approved", "approved_for_session", "abort"] as const) {
        const input = { ...execAnswer("c", decision), because }
        assert.deepStrictEqual(say(asked, input), {
          ...closes(0, "c", "denied", because),
          ...receipt,
        })
      }
    }
  })

  it("L7 remembers an approval for the session, and grants the same request without a question", () => {
    const answered = decide(asked, execAnswer("c", "approved_for_session"))
    assert.deepStrictEqual(answered.events, [
      draft("a", resolved("c", "approved_for_session", "answered", execGrant)),
    ])
    const granting = after(next(answered), leave)
    assert.deepStrictEqual(
      say(granting, asks(1, exec("d"))),
      closes(1, "d", "approved", "granted", execGrant),
    )
    assert.deepStrictEqual(
      say(granting, asks(1, exec("d", { cwd: "/else" }))),
      closes(1, "d", "denied", "unattended"),
    )
    for (const decision of ["approved", "denied", "abort"] as const) {
      assert.deepStrictEqual(after(asked, execAnswer("c", decision)).approvals.grants, [])
    }
  })

  it("remembers nothing about a patch without a root", () => {
    const state = after(attended, asks(0, patch("p")))
    const answered = decide(state, patchAnswer("p", "approved_for_session"))
    assert.deepStrictEqual(answered.events, [
      draft("a", resolved("p", "approved_for_session", "answered")),
    ])
    assert.deepStrictEqual(next(answered).approvals.grants, [])
  })

  it("L7 abort interrupts the turn, withdraws other pending questions and keeps queued submissions", () => {
    const state = after(
      asked,
      asks(1, exec("d")),
      submit(says("w"), { id: "w", whileRunning: "wait" }),
    )
    const decision = decide(state, execAnswer("c", "abort"))
    assert.deepStrictEqual(decision.events, [
      draft("a", resolved("c", "abort", "answered")),
      draft("a", resolved("d", "denied", "withdrawn")),
    ])
    assert.deepStrictEqual(decision.actions, [
      settle(0, "abort", "answered"),
      settle(1, "denied", "withdrawn"),
      { _tag: "InterruptTurn" },
    ])
    assert.deepStrictEqual(say(next(decision), ended("a", interruption)).events, [
      turnAborted("a"),
      ...startOf("w", "w"),
    ])
  })

  it("forgets old verdicts, in bounded memory", () => {
    let state = attended
    for (let i = 0; i < 300; i++) {
      state = after(state, asks(i, exec(`c${i}`)), execAnswer(`c${i}`, "denied"))
    }
    assert.strictEqual(state.approvals.resolved.length, 256)
    assert.strictEqual(say(state, execAnswer("c0", "denied")).refused?._tag, "SubmissionRefused")
    assert.deepStrictEqual(
      say(state, execAnswer("c43", "denied")).refused?.message,
      "no question has the id `c43`",
    )
  })
})

describe("approvals: resolved without an answer", () => {
  it("L7 expires as a denial", () => {
    assert.deepStrictEqual(say(asked, expire(0)), closes(0, "c", "denied", "expired"))
    assert.deepStrictEqual(say(asked, expire(1)), nothing)
  })

  it("L7 is withdrawn when the tool withdraws it", () => {
    assert.deepStrictEqual(say(asked, withdraw(0)), closes(0, "c", "denied", "withdrawn"))
    assert.deepStrictEqual(say(asked, withdraw(1)), nothing)
  })

  const two = after(asked, asks(1, patch("p")))
  const withdrawn = (reason: "withdrawn" | "shutdown") => ({
    events: [
      draft("a", resolved("c", "denied", reason)),
      draft("a", resolved("p", "denied", reason)),
    ],
    actions: [settle(0, "denied", reason), settle(1, "denied", reason)],
  })

  it("L7 is withdrawn by everything that interrupts the turn, before its terminal event", () => {
    const stops: ReadonlyArray<Input> = [
      cancel("a"),
      submit({ type: "interrupt" }),
      submit(says("x"), { whileRunning: "interrupt" }),
    ]
    for (const stop of stops) {
      const { events, actions } = decide(two, stop)
      assert.deepStrictEqual(
        { events, actions },
        {
          events: withdrawn("withdrawn").events,
          actions: [...withdrawn("withdrawn").actions, { _tag: "InterruptTurn" }],
        },
      )
    }
  })

  it("L7 is withdrawn before the events of submissions that are dropped with the turn", () => {
    const waits = after(two, submit(says("w"), { id: "w", whileRunning: "wait" }))
    assert.deepStrictEqual(decide(waits, submit({ type: "interrupt" })).events, [
      ...withdrawn("withdrawn").events,
      turnAborted("w"),
    ])
  })

  it("L7 ends with the conversation, before the terminal event", () => {
    const decision = decide(two, submit({ type: "shutdown" }, { id: "bye" }))
    assert.deepStrictEqual(decision.events, withdrawn("shutdown").events)
    assert.deepStrictEqual(say(next(decision), ended("a", interruption)).events, [
      turnAborted("a"),
      shutdownComplete("bye"),
    ])
  })

  it("L5 L7 is resolved before the terminal event of a turn that completes", () => {
    assert.deepStrictEqual(say(two, advance("a", {})).events, [
      ...withdrawn("withdrawn").events,
      taskComplete("a", null),
    ])
    assert.deepStrictEqual(say(two, ended("a", failure)).events, [
      ...withdrawn("withdrawn").events,
      draft("a", { type: "error", message: "boom" }),
      taskComplete("a", null),
    ])
    const { events, actions } = decide(two, ended("a", interruption))
    assert.deepStrictEqual(
      { events, actions },
      {
        events: [...withdrawn("withdrawn").events, turnAborted("a")],
        actions: withdrawn("withdrawn").actions,
      },
    )
  })
})
