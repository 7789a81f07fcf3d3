import type { FurtherPermissions } from "@colloquy/protocol/Policy"
import type { ReviewDecision } from "@colloquy/protocol/Policy"
import { assert, describe, it } from "@effect/vitest"
import type { ApprovalRequest } from "../../src/approvals/Approval.ts"
import { covers, intersection, union } from "../../src/approvals/Permissions.ts"
import { decide } from "../../src/decider/Decide.ts"
import { heldNow } from "../../src/decider/HeldPermissions.ts"
import { initialState, type State } from "../../src/decider/State.ts"
import { asks } from "../approvals.ts"
import { after, ended, failure, next, submit } from "../decisions.ts"
import { says, settings } from "../support.ts"

const wanted: FurtherPermissions = { network: true, write: ["/var/tmp"] }

const request = (callId: string, permissions = wanted): ApprovalRequest => ({
  _tag: "Permissions",
  callId,
  permissions,
  cwd: "/work",
})

const attend = { _tag: "ListenersChanged", by: 1, answers: "all" } as const

const running = (id = "a", from: State = initialState(settings)): State =>
  after(from, attend, submit(says("hi"), { id }))

const answer = (id: string, decision: ReviewDecision, permissions?: FurtherPermissions) =>
  submit({
    type: "permissions_approval",
    id,
    decision,
    ...(permissions === undefined ? {} : { permissions }),
  })

/** What is held after this answer, and what is recorded of it. */
const answered = (decision: ReviewDecision, permissions?: FurtherPermissions) => {
  const asked = after(running(), asks(0, request("c")))
  const decided = decide(asked, answer("c", decision, permissions))
  return { state: next(decided), msg: decided.events[0]?.msg, actions: decided.actions }
}

const resolved = { type: "approval_resolved", call_id: "c", reason: "answered" } as const

describe("the approval of permissions", () => {
  it("L7 L10 records what is granted, and holds only that", () => {
    const subset: FurtherPermissions = { write: ["/var/tmp/below"] }
    const { actions, msg, state } = answered("approved", subset)
    assert.deepStrictEqual<unknown>(msg, { ...resolved, decision: "approved", permissions: subset })
    assert.deepStrictEqual(heldNow(state.permissions), subset)
    assert.deepInclude(actions[0], {
      verdict: { decision: "approved", reason: "answered", permissions: subset },
    })
  })

  it("L15 grants never more than was asked for", () => {
    const more: FurtherPermissions = { network: true, read: ["/"], write: ["/", "/etc"] }
    const { state } = answered("approved_for_session", more)
    assert.deepStrictEqual(heldNow(state.permissions), wanted)
  })

  it.each<FurtherPermissions>([
    {},
    { network: false },
    { write: ["/etc"] },
    { write: ["/var/tmp/../../etc"] },
    { write: ["relative"] },
  ])("L7 an answer that grants nothing of it is a denial: %j", (granted) => {
    const { msg, state } = answered("approved", granted)
    assert.deepStrictEqual<unknown>(msg, { ...resolved, decision: "denied" })
    assert.deepStrictEqual(heldNow(state.permissions), {})
  })

  it("grants all that was asked for when the answer names nothing, and nothing with a denial", () => {
    assert.deepStrictEqual(heldNow(answered("approved").state.permissions), wanted)
    assert.deepStrictEqual(heldNow(answered("denied").state.permissions), {})
  })

  it("holds until the turn ends, or for the session", () => {
    const end = ended("a", failure)
    assert.deepStrictEqual(heldNow(after(answered("approved").state, end).permissions), {})
    const kept = after(answered("approved_for_session").state, end)
    assert.deepStrictEqual(heldNow(kept.permissions), wanted)
    const again = decide(running("b", kept), asks(1, request("d", { network: true }), "b"))
    assert.deepStrictEqual<unknown>(again.events[0]?.msg, {
      type: "approval_resolved",
      call_id: "d",
      decision: "approved_for_session",
      reason: "granted",
      permissions: { network: true },
    })
  })

  it("L7 is denied at once where no listener can answer it, and when the deadline passes", () => {
    const alone = after(initialState(settings), submit(says("hi"), { id: "a" }))
    const [event] = decide(alone, asks(0, request("c"))).events
    assert.deepInclude(event?.msg, { decision: "denied", reason: "unattended" })
    const asked = after(running(), asks(0, request("c")))
    const [expired] = decide(asked, { _tag: "Expire", number: 0 }).events
    assert.deepInclude(expired?.msg, { decision: "denied", reason: "expired" })
  })
})

describe("Permissions", () => {
  it("compares paths by their parts", () => {
    assert.isTrue(covers({ write: ["/a"] }, { write: ["/a/b"], read: ["/a"] }))
    assert.isFalse(covers({ write: ["/a"] }, { write: ["/ab"] }))
    assert.isFalse(covers({ read: ["/a"] }, { write: ["/a"] }))
    assert.deepStrictEqual(intersection({ write: ["/a"] }, { read: ["/a/b"] }), { read: ["/a/b"] })
    assert.deepStrictEqual(union({ write: ["/a/b"] }, { write: ["/a"] }), { write: ["/a"] })
  })
})
