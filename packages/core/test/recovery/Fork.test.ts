import { type Event, isTerminal } from "@colloquy/protocol/EventMsg"
import { ConversationId } from "@colloquy/protocol/Ids"
import { assert, describe, it } from "@effect/vitest"
import { requestEvent, resolvedEvent } from "../../src/question/ApprovalEvents.ts"
import type { ConversationSettings } from "../../src/ConversationSettings.ts"
import { type Draft, initialState, numberDrafts, project } from "../../src/decider/State.ts"
import { environmentContext } from "../../src/decider/EnvironmentContext.ts"
import { BadForkRule, type ForkRule, problemOf } from "../../src/ForkRule.ts"
import { beyondHistory } from "../../src/recovery/Fork.ts"
import { forkLog } from "../forks.ts"
import { historyOf } from "../../src/log/History.ts"
import { initialEvents } from "../../src/decider/InitialEvents.ts"
import { inputEvents } from "../../src/decider/TurnStart.ts"
import { assistantItem, conversationId, settings, userItem } from "../support.ts"

const target = { id: ConversationId.make("00000000-0000-7000-8000-000000000002"), settings }
const dropLast = (n: number): ForkRule => ({ _tag: "DropLastUserMessages", n })
const before = (nth: number): ForkRule => ({ _tag: "BeforeUserMessage", nth })

const input = (id: string, text: string) => inputEvents(id, { items: [{ type: "text", text }] })
const begin = (id: string): Draft => ({
  id,
  msg: { type: "task_started", model_context_window: null },
})
const said = (id: string, text: string): ReadonlyArray<Draft> => [
  { id, msg: { type: "raw_response_item", item: assistantItem(text) } },
  { id, msg: { type: "agent_message", message: text } },
]
const complete = (id: string): Draft => ({
  id,
  msg: { type: "task_complete", last_agent_message: null },
})
const turn = (id: string, text: string) => [
  begin(id),
  ...input(id, text),
  ...said(id, `to ${text}`),
  complete(id),
]

const log = (...drafts: ReadonlyArray<ReadonlyArray<Draft>>) =>
  numberDrafts(0, [...initialEvents(conversationId, settings), ...drafts.flat()])

const empty = numberDrafts(0, initialEvents(target.id, settings))

/** The messages of the user and of the model, and the ends of turns. */
const story = (events: ReadonlyArray<Event>) =>
  events.flatMap(({ msg }) => {
    if (msg.type === "user_message" || msg.type === "agent_message") return [msg.message]
    return isTerminal(msg) ? [msg.type] : []
  })

const three = log(turn("0", "a"), turn("1", "b"), turn("2", "c"))
const a = ["a", "to a", "task_complete"]
const b = ["b", "to b", "task_complete"]
const c = ["c", "to c", "task_complete"]

describe("Fork", () => {
  it("cuts before a review as a whole, and ends one that is cut off", () => {
    const entered: Draft = {
      id: "1",
      msg: { type: "entered_review_mode", prompt: "p", user_facing_hint: "h" },
    }
    const exited: Draft = { id: "1", msg: { type: "exited_review_mode", review_output: null } }
    const reviewed = log(turn("0", "a"), [
      begin("1"),
      entered,
      ...input("1", "b"),
      ...said("1", "found"),
      exited,
      complete("1"),
    ])
    assert.deepStrictEqual(
      forkLog(reviewed, dropLast(1), target),
      forkLog(three, before(1), target),
    )
    const at = reviewed.findIndex(({ msg }) => msg.type === "exited_review_mode")
    const cutOff = forkLog(reviewed, { _tag: "BeforeEvent", seq: at }, target)
    assert.deepStrictEqual(
      cutOff.slice(-2).map(({ msg }) => msg),
      [exited.msg, { type: "turn_aborted", reason: "interrupted" }],
    )
  })

  it("repeats no environment that differs only in the shell, which later messages omit", () => {
    const shell = { ...settings, shell: "zsh" } as const
    const moved: Draft = {
      id: "1",
      msg: { type: "raw_response_item", item: environmentContext({ ...settings, cwd: "/there" }) },
    }
    const source = numberDrafts(0, [
      ...initialEvents(conversationId, shell),
      ...turn("0", "a"),
      moved,
    ])
    const fork = forkLog(source, dropLast(0), {
      ...target,
      settings: { ...shell, cwd: "/there" },
    })
    assert.deepStrictEqual(historyOf(fork), [
      environmentContext(settings, "zsh"),
      userItem("a"),
      assistantItem("to a"),
      environmentContext({ ...settings, cwd: "/there" }),
    ])
  })

  it.each([
    [0, [...a, ...b, ...c]],
    [1, [...a, ...b]],
    [2, a],
    [3, []],
    [4, []],
    [1000, []],
  ])("August drops the last %d user messages and everything after", (n, kept) => {
    assert.deepStrictEqual(story(forkLog(three, dropLast(n), target)), kept)
  })

  it.each([
    [0, []],
    [1, a],
    [2, [...a, ...b]],
    [3, []],
    [4, []],
    [1000, []],
  ])("September keeps what comes before user message %d", (nth, kept) => {
    assert.deepStrictEqual(story(forkLog(three, before(nth), target)), kept)
  })

  it("starts a new conversation when nothing is kept", () => {
    for (const rule of [dropLast(3), dropLast(9), before(0), before(3), before(9)]) {
      assert.deepStrictEqual(forkLog(three, rule, target), empty)
    }
    for (const rule of [dropLast(0), dropLast(1), before(0), before(1)]) {
      assert.deepStrictEqual(forkLog(log(), rule, target), empty)
    }
  })

  it("L3 L4 L5 begins with its own session_configured, has no gap and no open turn", () => {
    const sources = [
      three,
      log(turn("0", "a"), [begin("1"), ...input("1", "b"), ...input("1", "joined")]),
      log([begin("0"), ...input("0", "a"), ...input("0", "b"), complete("0")], turn("1", "c")),
      log([
        begin("0"),
        ...input("0", "a"),
        { id: "x", msg: { type: "turn_aborted", reason: "interrupted" } },
      ]),
    ]
    for (const source of sources) {
      for (const rule of [0, 1, 2, 3, 4].flatMap((n) => [dropLast(n), before(n)])) {
        const fork = forkLog(source, rule, target)
        assert.deepStrictEqual(fork.slice(0, 1), empty.slice(0, 1))
        assert.deepStrictEqual(
          fork.map(({ seq }) => seq),
          fork.map((_, i) => i),
        )
        assert.lengthOf(
          fork.filter(({ msg }) => msg.type === "session_configured"),
          1,
        )
        const begun = fork.filter(({ msg }) => msg.type === "task_started").map(({ id }) => id)
        for (const id of begun) {
          assert.lengthOf(
            fork.filter((event) => event.id === id && isTerminal(event.msg)),
            1,
          )
        }
      }
    }
  })

  it("leaves out the turn that still runs", () => {
    const running = log(turn("0", "a"), [begin("1"), ...input("1", "b"), ...said("1", "half")])
    assert.deepStrictEqual(story(forkLog(running, dropLast(0), target)), a)
    assert.deepStrictEqual(story(forkLog(running, dropLast(1), target)), [])
    assert.deepStrictEqual(story(forkLog(running, before(1), target)), [])
  })

  it("ends a turn at the message that joined it", () => {
    const joined = log([
      begin("0"),
      ...input("0", "a"),
      ...said("0", "to a"),
      ...input("0", "and"),
      ...said("0", "to and"),
      complete("0"),
    ])
    const kept = ["a", "to a", "turn_aborted"]
    assert.deepStrictEqual(story(forkLog(joined, dropLast(1), target)), kept)
    assert.deepStrictEqual(story(forkLog(joined, before(1), target)), kept)
  })

  it("does not count messages that Colloquy adds, also after a change of the environment", () => {
    const elsewhere: ConversationSettings = { ...settings, cwd: "/else" }
    const moved = initialEvents(conversationId, elsewhere).slice(1)
    const source = log(turn("0", "a"), moved, turn("1", "b"))
    assert.deepStrictEqual(story(forkLog(source, dropLast(2), target)), [])
    assert.deepStrictEqual(story(forkLog(source, before(1), target)), a)
    // The last environment event of the fork describes the directory of the new conversation.
    const here = forkLog(source, dropLast(0), target)
    assert.deepStrictEqual(here.at(-1)?.msg, empty[1]?.msg)
    const there = forkLog(source, dropLast(0), { ...target, settings: elsewhere })
    assert.deepStrictEqual(there.slice(1), source.slice(1))
  })

  it("L7 a fork keeps the grants of the session", () => {
    const approved: Draft = {
      id: "0",
      msg: resolvedEvent("q", { decision: "approved_for_session", reason: "answered" }, "a grant"),
    }
    const fork = forkLog(log([begin("0"), approved, complete("0")]), dropLast(0), target)
    assert.deepStrictEqual(fork.reduce(project, initialState(settings)).approvals.grants, [
      "a grant",
    ])
  })

  it("L7 denies pending questions where a turn is cut", () => {
    const request = {
      _tag: "Exec",
      callId: "q",
      command: ["make"],
      cwd: "/work",
      sandbox: { mode: "read-only" },
    } as const
    const asked = log([
      begin("0"),
      ...input("0", "a"),
      {
        id: "0",
        msg: requestEvent(request, { cwd: "/work", sandboxPolicy: { mode: "read-only" } }),
      },
      ...input("0", "and"),
      { id: "0", msg: resolvedEvent("q", { decision: "approved", reason: "answered" }) },
      complete("0"),
    ])
    assert.deepStrictEqual(
      forkLog(asked, before(1), target)
        .slice(-2)
        .map(({ msg }) => msg),
      [
        resolvedEvent("q", { decision: "denied", reason: "withdrawn" }),
        { type: "turn_aborted", reason: "interrupted" },
      ],
    )
  })

  it("L4 continues also when the original was shut down just then", () => {
    const ended = log(turn("0", "a"), [{ id: "1", msg: { type: "shutdown_complete" } }])
    for (const rule of [dropLast(0), before(7)]) {
      const types = forkLog(ended, rule, target).map(({ msg }) => msg.type)
      assert.notInclude(types, "shutdown_complete")
    }
    assert.deepStrictEqual(story(forkLog(ended, dropLast(0), target)), a)
  })

  it("gives the model the history that is kept", () => {
    assert.deepStrictEqual(
      historyOf(forkLog(three, dropLast(1), target)),
      historyOf(log(turn("0", "a"), turn("1", "b"))),
    )
  })

  it("L13 names a number beyond the history, and the largest possible one", () => {
    for (const rule of [dropLast(0), dropLast(3), before(0), before(2)]) {
      assert.isUndefined(beyondHistory(three, rule))
    }
    assert.deepStrictEqual(
      beyondHistory(three, dropLast(4)),
      new BadForkRule({ field: "n", value: 4, userMessages: 3 }),
    )
    assert.strictEqual(
      beyondHistory(three, before(3))?.message,
      "nth: expected the number of a user message, of which there are 3, from 0; got 3",
    )
    assert.strictEqual(
      beyondHistory(
        initialEvents(conversationId, settings).map((draft, seq) => ({ ...draft, seq })),
        dropLast(1),
      )?.message,
      "n: expected at most 0, as many user messages as there are; got 1",
    )
  })

  it("L13 names a number that is not a count", () => {
    for (const value of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
      assert.deepStrictEqual(problemOf(dropLast(value)), new BadForkRule({ field: "n", value }))
      assert.deepStrictEqual(problemOf(before(value)), new BadForkRule({ field: "nth", value }))
    }
    for (const value of [0, 1, 10 ** 9]) assert.isUndefined(problemOf(dropLast(value)))
    assert.strictEqual(
      problemOf(before(-1))?.message,
      "nth: expected a whole number of user messages, 0 or more; got -1",
    )
  })

  it("cuts before a submission, after its turn, or before any event", () => {
    const fork = (rule: ForkRule) => story(forkLog(three, rule, target))
    assert.deepStrictEqual(fork({ _tag: "BeforeSubmission", id: "1" }), a)
    assert.deepStrictEqual(fork({ _tag: "BeforeSubmission", id: "0" }), [])
    assert.deepStrictEqual(fork({ _tag: "ThroughSubmission", id: "1" }), [...a, ...b])
    assert.deepStrictEqual(fork({ _tag: "ThroughSubmission", id: "2" }), [...a, ...b, ...c])
    const whole = three.length
    assert.deepStrictEqual(fork({ _tag: "BeforeEvent", seq: whole }), [...a, ...b, ...c])
    // The last turn has no terminal event, so the fork appends one.
    assert.deepStrictEqual(fork({ _tag: "BeforeEvent", seq: whole - 1 }), [
      ...a,
      ...b,
      "c",
      "to c",
      "turn_aborted",
    ])
    assert.deepStrictEqual(fork({ _tag: "BeforeEvent", seq: 1 }), [])
  })

  it("cuts before a turn that still runs, and not after it", () => {
    const running = three.slice(0, -1)
    const before: ForkRule = { _tag: "BeforeSubmission", id: "2" }
    assert.isUndefined(beyondHistory(running, before))
    assert.deepStrictEqual(story(forkLog(running, before, target)), [...a, ...b])
    assert.isDefined(beyondHistory(running, { _tag: "ThroughSubmission", id: "2" }))
  })

  it("L4 L5 produces a complete log wherever it is cut", () => {
    for (let seq = 1; seq <= three.length; seq++) {
      const events = forkLog(three, { _tag: "BeforeEvent", seq }, target)
      assert.deepStrictEqual(
        events.map((event) => event.seq),
        events.map((_, i) => i),
      )
      const begun = events.filter(({ msg }) => msg.type === "task_started")
      const over = events.filter(({ msg }) => isTerminal(msg))
      assert.deepStrictEqual(
        over.map(({ id }) => id),
        begun.map(({ id }) => id),
      )
    }
  })

  it("L13 names the submission without an ended turn, and the number of events", () => {
    for (const _tag of ["BeforeSubmission", "ThroughSubmission"] as const) {
      assert.strictEqual(
        beyondHistory(three, { _tag, id: "9" })?.message,
        "id: no ended turn has the id `9`",
      )
    }
    const { length } = three
    assert.strictEqual(
      beyondHistory(three, { _tag: "BeforeEvent", seq: length + 1 })?.message,
      `seq: expected the number of an event, from 1 to ${length}; got ${length + 1}`,
    )
    for (const seq of [0, -1, 1.5, Number.NaN]) {
      assert.strictEqual(
        problemOf({ _tag: "BeforeEvent", seq })?.message,
        `seq: expected the number of an event, from 1; got ${seq}`,
      )
    }
  })
})
