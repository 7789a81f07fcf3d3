/** The checks of what followers of several nodes get, over traces made by hand: what a check allows, and what it detects. */
import type { Event } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import { followersKeepUp, lossesAreNoticed } from "../src/nodes/laws/NodeFollowing.ts"
import { nodesHistoryOf } from "../src/nodes/NodeHistory.ts"
import type { NodesPlan } from "../src/nodes/NodePlan.ts"
import type { Entry } from "../src/trace/Trace.ts"

const conversation = "00000000-0000-7000-8000-000000000001"

const plan: NodesPlan = {
  seed: 0,
  nodes: [],
  deadlineMs: 8_000,
  onRestart: "close",
  model: [],
  clients: [],
  faults: [],
}

const violations = (
  check: typeof followersKeepUp,
  trace: ReadonlyArray<Entry>,
  of: NodesPlan = plan,
): number =>
  check(nodesHistoryOf({ plan: of, trace, end: "done", steps: 0, logs: new Map() })).length

const follows: Entry = {
  ms: 0,
  at: "nodeCall",
  client: "c0",
  call: 0,
  conversation,
  action: { do: "follow", node: 0, slot: 0, follower: "f0", from: 0 },
}

const attached = (ms: number, from = 0): Entry => ({
  ms,
  at: "following",
  follower: "f0",
  conversation,
  node: "n0",
  from,
})

const wrote = (ms: number, events: number): Entry => ({
  ms,
  at: "wrote",
  conversation,
  process: "n1.0",
  generation: 2,
  events,
})

const got = (ms: number, ...seqs: ReadonlyArray<number>): Entry => ({
  ms,
  at: "got",
  follower: "f0",
  events: seqs.map((seq): Event => ({ seq, id: "", msg: { type: "shutdown_complete" } })),
})

const refused = (ms: number, tag: string): Entry => ({
  ms,
  at: "unfollowed",
  follower: "f0",
  answer: { is: "error", tag },
})

const node = (ms: number, does: string): Entry => ({ ms, at: "node", node: "n0", does })

const rest = (ms: number): Entry => ({ ms, at: "rest" })

describe("L4 a follower gets what another node has recorded", () => {
  const check = (...trace: ReadonlyArray<Entry>) => violations(followersKeepUp, [follows, ...trace])

  it("within eleven seconds", () => {
    assert.strictEqual(check(attached(0), wrote(100, 1), got(11_100, 0), rest(60_000)), 0)
    assert.strictEqual(check(attached(0), wrote(100, 1), got(11_101, 0), rest(60_000)), 1)
    assert.strictEqual(check(attached(0), wrote(100, 1), rest(11_101)), 1)
  })

  it("counted from its attachment, and from the events that it got last", () => {
    assert.strictEqual(check(wrote(0, 1), attached(9_000), got(20_000, 0), rest(60_000)), 0)
    assert.strictEqual(check(wrote(0, 1), attached(9_000), rest(20_001)), 1)
    assert.strictEqual(
      check(attached(0), wrote(0, 2), got(5_000, 0), got(16_000, 1), rest(60_000)),
      0,
    )
    assert.strictEqual(check(attached(0), wrote(0, 2), got(5_000, 0), rest(16_001)), 1)
  })

  it("unless it is not attached any more, or wants none of them yet", () => {
    assert.strictEqual(check(attached(0), wrote(0, 1), refused(8_000, "NoAnswer"), rest(60_000)), 0)
    assert.strictEqual(check(attached(0, 1), got(0, 0), wrote(0, 1), rest(60_000)), 0)
  })

  it("counted from the end of the last fault", () => {
    const faulty = [attached(0), node(0, "lock"), wrote(100, 1), node(20_000, "lock ends")]
    assert.strictEqual(check(...faulty, got(31_000, 0), rest(60_000)), 0)
    assert.strictEqual(check(...faulty, rest(31_001)), 1)
    assert.strictEqual(check(attached(0), wrote(0, 1), node(5_000, "kill"), rest(16_000)), 0)
    assert.strictEqual(check(attached(0), wrote(0, 1), node(5_000, "kill"), rest(16_001)), 1)
  })

  it("until the followers are ended, and not where the nodes form a cluster", () => {
    const late = [attached(0), wrote(0, 1), rest(60_000)]
    assert.strictEqual(check(...late), 1)
    const closing: Entry = { ms: 1_000, at: "closing" }
    assert.strictEqual(check(attached(0), wrote(0, 1), closing, rest(60_000)), 0)
    const cluster = { delayMs: 0, patienceMs: 6_000, drainWithinMs: 0, split: 2, callFaults: [] }
    assert.strictEqual(violations(followersKeepUp, [follows, ...late], { ...plan, cluster }), 0)
  })
})

describe("L4 a node that has lost a conversation learns it", () => {
  const check = (...trace: ReadonlyArray<Entry>) =>
    violations(lossesAreNoticed, [follows, attached(0), got(0, 0), ...trace])
  const fromFuture = (ms: number) => refused(ms, "EventsFromFuture")

  it("before it refuses a follower for eleven seconds as one from the future", () => {
    assert.strictEqual(check(fromFuture(100), fromFuture(11_100)), 0)
    assert.strictEqual(check(fromFuture(100), fromFuture(11_101)), 1)
    assert.strictEqual(check(refused(100, "NoAnswer"), refused(60_000, "NoAnswer")), 0)
  })

  it("counted again once the follower gets an event, or something happens to a node", () => {
    assert.strictEqual(check(fromFuture(100), got(3_000, 1), fromFuture(12_000)), 0)
    assert.strictEqual(check(fromFuture(100), node(3_000, "start"), fromFuture(12_000)), 0)
  })

  it("except while a fault lasts", () => {
    const faulty = [node(0, "lock"), fromFuture(100), fromFuture(20_000)]
    assert.strictEqual(check(...faulty), 0)
    assert.strictEqual(
      check(...faulty, node(21_000, "lock ends"), fromFuture(21_100), fromFuture(32_200)),
      1,
    )
  })

  it("and not before the follower got its first event, which may not be recorded yet", () => {
    const before = [follows, fromFuture(100), fromFuture(60_000), attached(61_000), got(61_000, 0)]
    assert.strictEqual(violations(lossesAreNoticed, before), 0)
  })
})
