/** The checks of single laws over histories made by hand: what a check allows, and that it still detects the rest. */
import type { Event, EventMsg } from "@colloquy/protocol/EventMsg"
import { ConversationId } from "@colloquy/protocol/Ids"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { FaultyStore } from "../src/faults/FaultyStore.ts"
import { badInputIsReported } from "../src/laws/Answers.ts"
import { acknowledgedIsRecorded } from "../src/laws/Durability.ts"
import { questionsSurvive } from "../src/laws/Restarts.ts"
import { crash } from "../src/Restart.ts"
import type { Operation, Plan } from "../src/scenario/Plan.ts"
import { auditOf } from "../src/scenario/Listeners.ts"
import { historyOf } from "../src/trace/History.ts"
import { Recorder } from "../src/trace/Recorder.ts"
import type { Answer, Entry } from "../src/trace/Trace.ts"
import type { Run } from "../src/World.ts"

const conversation = Schema.decodeSync(ConversationId)("00000000-0000-7000-8000-000000000001")

const plan: Plan = {
  seed: 0,
  maxConversations: 8,
  model: [],
  clients: [],
  store: {
    idleMs: 600_000,
    maxLoaded: 1_000,
    unaudited: [],
    faults: [],
    appendFaults: [],
    restart: true,
  },
}

const runOf = (trace: ReadonlyArray<Entry>): Run => ({ plan, trace, end: "done", steps: 0 })

const calls = (call: number, operation: Operation): Entry => ({
  ms: 0,
  at: "call",
  client: "c0",
  call,
  conversation,
  operation,
})

const answers = (call: number, answer: Answer): Entry => ({ ms: 0, at: "answer", call, answer })

const input = (text: string, id?: string): Operation => ({
  do: "submit",
  slot: 0,
  what: "input",
  whileRunning: "queue",
  text,
  ...(id === undefined ? {} : { id }),
})

const done = { is: "ok", value: null } as const

const event = (seq: number, id: string, msg: EventMsg): Event => ({ seq, id, msg })

const question = event(1, "0", {
  type: "exec_approval_request",
  call_id: "q",
  command: ["make"],
  cwd: "/work",
})

/** An audit that takes these events. */
const audited = (events: ReadonlyArray<Event>): ReadonlyArray<Entry> => {
  const listener = auditOf(conversation)
  return [
    {
      ms: 0,
      at: "listening",
      listener,
      conversation,
      from: 0,
      before: 0,
      maxEvents: 4096,
      reading: { how: "fast" },
    },
    {
      ms: 0,
      at: "took",
      listener,
      deliveries: events.map((one) => ({ _tag: "Event", atMs: 0, event: one })),
    },
  ]
}

describe("L13 a conversation that is not available", () => {
  const unavailable = (reason: string): Answer => ({
    is: "error",
    tag: "ConversationUnavailable",
    reason,
  })
  const violations = (trace: ReadonlyArray<Entry>) =>
    badInputIsReported(historyOf(runOf(trace))).length
  const [use, remove] = [calls(0, input("u")), calls(1, { do: "remove", slot: 0 })]
  const failed = { is: "error", tag: "StoreError" } as const

  it("may say that it is being removed while it is", () => {
    const told = answers(0, unavailable("it is being removed"))
    assert.strictEqual(violations([use, remove, told, answers(1, done)]), 0)
    assert.strictEqual(violations([remove, use, answers(1, done), told]), 0)
    assert.strictEqual(violations([use, told, remove, answers(1, done)]), 1)
    assert.strictEqual(violations([remove, answers(1, done), use, told]), 1)
    assert.strictEqual(violations([use, told]), 1)
  })

  it("may say that it was removed after it was", () => {
    const told = answers(0, unavailable("it was removed"))
    assert.strictEqual(violations([remove, answers(1, done), use, told]), 0)
    assert.strictEqual(violations([remove, use, told, answers(1, done)]), 0)
    assert.strictEqual(violations([use, told, remove, answers(1, done)]), 1)
    // The second violation is the error of the removal itself, which the store of the plan does not explain.
    assert.strictEqual(violations([remove, answers(1, failed), use, told]), 2)
    assert.strictEqual(violations([use, told]), 1)
  })

  it("may say that it is being closed once the manager closes", () => {
    const told = answers(0, unavailable("it is being closed"))
    assert.strictEqual(violations([use, { ms: 0, at: "closing" }, told]), 0)
    assert.strictEqual(violations([use, told, { ms: 0, at: "closing" }]), 1)
    assert.strictEqual(violations([remove, use, told, answers(1, done)]), 1)
  })
})

describe("L10 an acknowledged message of a fork", () => {
  const receipt = (id: string): Answer => ({ is: "ok", value: { id, disposition: "started" } })
  const inherited = event(1, "a", { type: "user_message", message: "of the parent" })
  const forked: Entry = {
    ms: 0,
    at: "forked",
    call: 9,
    conversation,
    parent: "p",
    rule: { _tag: "DropLastUserMessages", n: 0 },
    seq: 2,
  }
  const violations = (operation: Operation, id: string) =>
    acknowledgedIsRecorded(
      historyOf({
        ...runOf(audited([inherited])),
        surviving: new Map([[conversation, [inherited]]]),
        beforeCrash: runOf([forked, calls(0, operation), answers(0, receipt(id))]),
      }),
    ).length

  it("is the one of the parent with the same id, and is recorded otherwise", () => {
    assert.strictEqual(violations(input("mine", "a"), "a"), 0)
    assert.strictEqual(violations(input("mine", "b"), "b"), 1)
    assert.strictEqual(violations(input("mine"), "a"), 1)
  })
})

describe("L7 a question that is withdrawn after a crash", () => {
  const withdrawn = event(2, "0", {
    type: "approval_resolved",
    call_id: "q",
    decision: "denied",
    reason: "withdrawn",
  })
  const violations = (requested: ReadonlyArray<Entry>, before: ReadonlyArray<Event> = []) =>
    questionsSurvive(
      historyOf({
        ...runOf(audited([question, withdrawn])),
        surviving: new Map([[conversation, [...before, question]]]),
        requested: new Map([[conversation, requested]]),
        beforeCrash: runOf([]),
      }),
    ).length
  const listening = (answering: "abort" | "denied"): Entry => ({
    ms: 0,
    at: "listening",
    listener: "l",
    conversation,
    from: undefined,
    before: 0,
    maxEvents: 64,
    reading: { how: "fast" },
    answering,
  })
  const asks = (event: Event): Entry => ({
    ms: 0,
    at: "took",
    listener: "l",
    deliveries: [{ _tag: "Ask", event }],
  })
  const asked = asks(question)

  it("was stopped by a client whose request may have been recorded", () => {
    assert.strictEqual(violations([listening("abort"), asked]), 0)
    assert.strictEqual(violations([calls(0, { do: "cancel", slot: 0 })]), 0)
    assert.strictEqual(violations([listening("denied"), asked]), 1)
    assert.strictEqual(violations([listening("abort")]), 1)
    assert.strictEqual(violations([]), 1)
  })

  it("was not stopped by an answer to a question of another turn, nor by one that came too late", () => {
    const earlier = (turn: string) => event(-2, turn, { ...question.msg, call_id: "p" } as EventMsg)
    const answered = (decision: "abort" | "approved") =>
      event(-1, "0", { type: "approval_resolved", call_id: "p", decision, reason: "answered" })
    const requested = (turn: string) => [listening("abort"), asks(earlier(turn))]
    assert.strictEqual(violations(requested("before")), 1)
    assert.strictEqual(violations(requested("0"), [earlier("0"), answered("approved")]), 1)
    assert.strictEqual(violations(requested("0"), [earlier("0"), answered("abort")]), 0)
  })
})

describe("a crash", () => {
  const record = (seq: number) =>
    ({
      _tag: "Event",
      atMs: 0,
      event: event(seq, "", { type: "background_event", message: "x" }),
    }) as const

  it("leaves the part of the trace that precedes the last record of each conversation that survives", () => {
    const trace = Array.from({ length: 12 }, (_, call) => calls(call, { do: "list" }))
    const outcomes = new Set<string>()
    for (let seed = 0; seed < 100; seed++) {
      const recorder = new Recorder()
      const store = FaultyStore.make(plan.store, recorder)
      Effect.runSync(
        Effect.scoped(
          Effect.gen(function* () {
            const program = { originator: "simulation", version: "1" }
            const meta = { id: conversation, createdAtMs: 0, cwd: "/work", ...program }
            const writer = yield* store.create(meta, [record(0)])
            for (const entry of trace) {
              recorder.trace.push(entry)
              if (recorder.trace.length !== 8) continue
              yield* writer.append([record(1), record(2)], "synced")
            }
          }),
        ),
      )
      const { at, requested, surviving } = crash({ ...plan, seed }, recorder.trace, store, recorder)
      const survived = surviving.get(conversation)?.length ?? 0
      const until = requested.get(conversation)?.length
      // It was created when the trace had 1 entry.
      if (survived === 0) assert.strictEqual(at, 1)
      if (survived === 0) continue
      // The batch was written when the trace had 8 entries; only a part of it survives a crash before that.
      assert.strictEqual(until, survived === 2 ? 8 : at)
      assert.strictEqual(survived === 3, at > 8)
      outcomes.add(`${survived} events, crash ${at > 8 ? "after" : "before"} the batch`)
    }
    assert.deepStrictEqual([...outcomes].toSorted(), [
      "1 events, crash before the batch",
      "2 events, crash before the batch",
      "3 events, crash after the batch",
    ])
  })
})
