import { type Event, type EventMsg, isEphemeral } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import type { Item } from "../../src/log/Item.ts"
import { initialItems, isText, type ItemChange, itemsOf, step } from "../../src/log/Items.ts"

const duration = { secs: 1, nanos: 500_000_000 }
const invocation = { server: "s", tool: "t", arguments: { a: 1 } }

const changesOf = (events: ReadonlyArray<Pick<Event, "id" | "msg">>): ReadonlyArray<ItemChange> => {
  let state = initialItems
  return events.flatMap((event) => {
    const next = step(state, event)
    state = next.state
    return next.changes
  })
}

const turn = (...messages: ReadonlyArray<EventMsg>) =>
  [{ type: "task_started", model_context_window: null } as EventMsg, ...messages].map((msg) => ({
    id: "t",
    msg,
  }))

const delta = (text: string): EventMsg => ({ type: "agent_message_delta", delta: text })
const message = (text: string): EventMsg => ({ type: "agent_message", message: text })
const complete: EventMsg = { type: "task_complete", last_agent_message: null }
const aborted: EventMsg = { type: "turn_aborted", reason: "interrupted" }
const begin = (call_id: string): EventMsg => ({
  type: "exec_command_begin",
  call_id,
  command: ["ls"],
  cwd: "/",
})
const end = (call_id: string, exit_code = 0): EventMsg => ({
  type: "exec_command_end",
  call_id,
  stdout: "out",
  stderr: "err",
  exit_code,
  duration,
})

/** Tags, ids and texts of changes, for short expectations. */
const shown = (change: ItemChange): string => {
  switch (change._tag) {
    case "Delta":
      return `delta ${change.id} ${change.delta}`
    case "Progress":
      return `progress ${change.id} ${change.report.progress}`
    case "Reset":
      return `reset ${change.id}`
    default:
      return `${change._tag.toLowerCase()} ${change.item.id} ${change.item.status}`
  }
}

describe("Items", () => {
  it("a streamed message starts, grows and ends as one item", () => {
    assert.deepStrictEqual(
      changesOf(turn(delta("a"), delta("b"), message("ab"), complete)).map(shown),
      [
        "started t/agent_message/0 running",
        "delta t/agent_message/0 a",
        "delta t/agent_message/0 b",
        "completed t/agent_message/0 completed",
      ],
    )
  })

  it("a message without deltas is an item as well", () => {
    assert.deepStrictEqual(changesOf(turn(message("ab"))).map(shown), [
      "started t/agent_message/0 running",
      "completed t/agent_message/0 completed",
    ])
  })

  it("a repeated request resets the text and keeps the item", () => {
    const error: EventMsg = { type: "stream_error", message: "retrying" }
    const events = turn(delta("lost"), error, delta("x"), message("x"))
    assert.deepStrictEqual(changesOf(events).map(shown), [
      "started t/agent_message/0 running",
      "delta t/agent_message/0 lost",
      "reset t/agent_message/0",
      "delta t/agent_message/0 x",
      "completed t/agent_message/0 completed",
    ])
    assert.deepStrictEqual(
      itemsOf(turn(delta("lost"), error, delta("x"))).map((item) => isText(item) && item.text),
      ["x"],
    )
  })

  it("every section of a reasoning summary is an item, in the order of the sections", () => {
    const thought = (text: string): EventMsg => ({ type: "agent_reasoning_delta", delta: text })
    const summary = (text: string): EventMsg => ({ type: "agent_reasoning", text })
    const section: EventMsg = { type: "agent_reasoning_section_break" }
    const events = turn(thought("1"), section, thought("2"), summary("one"), summary("two"))
    assert.deepStrictEqual(changesOf(events).map(shown), [
      "started t/reasoning/0 running",
      "delta t/reasoning/0 1",
      "started t/reasoning/1 running",
      "delta t/reasoning/1 2",
      "completed t/reasoning/0 completed",
      "completed t/reasoning/1 completed",
    ])
  })

  it("a call has its end, its status and its output", () => {
    const output: EventMsg = {
      type: "exec_command_output_delta",
      call_id: "a",
      stream: "stdout",
      chunk: "b3V0",
    }
    const events = turn(begin("a"), begin("b"), output, end("b", 2), end("a"))
    const command = { type: "command", turnId: "t", command: ["ls"], cwd: "/" }
    const result = { output: "outerr", durationMs: 1500 }
    assert.deepStrictEqual<unknown>(itemsOf(events), [
      { ...command, ...result, id: "t/command/0", callId: "a", status: "completed", exitCode: 0 },
      { ...command, ...result, id: "t/command/1", callId: "b", status: "failed", exitCode: 2 },
    ])
    assert.include(changesOf(events).map(shown), "delta t/command/0 b3V0")
  })

  it("the progress of a call belongs to its item while it is open", () => {
    const progress: EventMsg = { type: "mcp_tool_call_progress", call_id: "m", progress: 3 }
    const events = turn(progress, messages.call, progress, messages.called, progress)
    assert.deepStrictEqual(changesOf(events).map(shown), [
      "started t/mcp_tool_call/0 running",
      "progress t/mcp_tool_call/0 3",
      "completed t/mcp_tool_call/0 failed",
    ])
  })

  it("the start of a second attempt ends the first one", () => {
    assert.deepStrictEqual(
      itemsOf(turn(begin("a"), begin("a"), end("a"))).map(({ status }) => status),
      ["interrupted", "completed"],
    )
  })

  it("the end of a turn ends open calls, and discards a text that was not recorded", () => {
    const events = turn(begin("a"), delta("lost"), aborted)
    assert.deepStrictEqual(changesOf(events).slice(3).map(shown), [
      "completed t/command/0 interrupted",
      "discarded t/agent_message/0 running",
      "started t/interruption/0 running",
      "completed t/interruption/0 completed",
    ])
  })

  it("the end of a submission that only waited ends nothing of the running turn", () => {
    const events = [...turn(begin("a")), { id: "waiting", msg: aborted }]
    assert.deepStrictEqual(
      itemsOf(events).map(({ id, status }) => [id, status]),
      [
        ["t/command/0", "running"],
        ["waiting/interruption/0", "completed"],
      ],
    )
  })

  it("a question is resolved with the decision and its reason", () => {
    const events = turn(
      { type: "exec_approval_request", call_id: "a", command: ["ls"], cwd: "/" },
      { type: "approval_resolved", call_id: "a", decision: "denied", reason: "expired" },
      // A grant answered the question, so no client got it.
      { type: "approval_resolved", call_id: "b", decision: "approved", reason: "granted" },
    )
    assert.deepStrictEqual<unknown>(itemsOf(events), [
      {
        type: "question",
        id: "t/question/0",
        turnId: "t",
        callId: "a",
        kind: "command",
        subject: { command: ["ls"], cwd: "/" },
        status: "declined",
        decision: "denied",
        reason: "expired",
      },
    ])
  })
})

/** Kinds of steps. A random sequence of them forms a log, which need not be one that a conversation writes. */
const kinds = [
  "start",
  "end",
  "abort",
  "waiting",
  "delta",
  "message",
  "thought",
  "section",
  "summary",
  "raw delta",
  "raw",
  "retry",
  "count",
  "begin a",
  "begin b",
  "output a",
  "end a",
  "end b",
  "patch",
  "patched",
  "own",
  "owned",
  "call",
  "progress",
  "called",
  "search",
  "searched",
  "ask",
  "resolve",
  "plan",
  "error",
  "user",
  "compacted",
] as const
type Kind = (typeof kinds)[number]

const messages: Readonly<Record<Kind, EventMsg>> = {
  start: { type: "task_started", model_context_window: null },
  end: complete,
  abort: aborted,
  waiting: aborted,
  delta: delta("d"),
  message: message("m"),
  thought: { type: "agent_reasoning_delta", delta: "d" },
  section: { type: "agent_reasoning_section_break" },
  summary: { type: "agent_reasoning", text: "s" },
  "raw delta": { type: "agent_reasoning_raw_content_delta", delta: "d" },
  raw: { type: "agent_reasoning_raw_content", text: "r" },
  retry: { type: "stream_error", message: "again" },
  count: { type: "token_count", info: null },
  "begin a": begin("a"),
  "begin b": begin("b"),
  "output a": { type: "exec_command_output_delta", call_id: "a", stream: "stdout", chunk: "" },
  "end a": end("a"),
  "end b": end("b", 1),
  patch: { type: "patch_apply_begin", call_id: "p", auto_approved: true, changes: {} },
  patched: { type: "patch_apply_end", call_id: "p", stdout: "", stderr: "", success: true },
  call: { type: "mcp_tool_call_begin", call_id: "m", invocation },
  progress: { type: "mcp_tool_call_progress", call_id: "m", progress: 1, total: 2 },
  called: { type: "mcp_tool_call_end", call_id: "m", invocation, duration, result: { Err: "no" } },
  own: { type: "tool_call_begin", call_id: "o", tool: "refund", arguments: {} },
  owned: { type: "tool_call_end", call_id: "o", tool: "refund", duration, result: { Ok: "done" } },
  search: { type: "web_search_begin", call_id: "w" },
  searched: { type: "web_search_end", call_id: "w", query: "q" },
  ask: { type: "exec_approval_request", call_id: "q", command: ["ls"], cwd: "/" },
  resolve: { type: "approval_resolved", call_id: "q", decision: "approved", reason: "answered" },
  plan: { type: "plan_update", explanation: null, plan: [] },
  error: { type: "error", message: "broke" },
  user: { type: "user_message", message: "hi" },
  compacted: { type: "compacted", message: "summary" },
}

/** Builds the log of the steps: each turn has a separate id, and so has a submission that ends while queued. */
const logOf = (drawn: ReadonlyArray<Kind>): ReadonlyArray<Pick<Event, "id" | "msg">> => {
  let turns = 0
  return drawn.map((kind, i) => {
    if (kind === "start") turns++
    const id = kind === "waiting" ? `w${i}` : `t${turns}`
    if (kind === "end" || kind === "abort") turns++
    return { id, msg: messages[kind] }
  })
}

const log = Arbitrary.array(Arbitrary.schema(Schema.Literals(kinds)), { maxLength: 80 })
const shutdown = { id: "", msg: { type: "shutdown_complete" } as const }

/** True for items that the log records: a text that is still being received is not recorded. */
const isRecorded = (item: Item): boolean => !(isText(item) && item.status === "running")

describe("Items of any log", () => {
  it.prop(
    "live events and their durable ones give the same items",
    { drawn: log },
    ({ drawn }) => {
      const live = logOf(drawn)
      assert.deepStrictEqual(
        itemsOf(live).filter(isRecorded),
        itemsOf(live.filter(({ msg }) => !isEphemeral(msg))),
      )
    },
    { arbitrary: { runs: 500 } },
  )

  it.prop(
    "every item starts once before it ends once, and deltas come between",
    { drawn: log },
    ({ drawn }) => {
      const open = new Set<string>()
      const completed = new Set<string>()
      for (const change of changesOf([...logOf(drawn), shutdown])) {
        const id = "item" in change ? change.item.id : change.id
        if (change._tag === "Started") {
          assert.isFalse(open.has(id) || completed.has(id), `${id} starts twice`)
          open.add(id)
        } else {
          assert.isTrue(open.has(id), `${shown(change)} without a start`)
          if (change._tag === "Completed") completed.add(id)
          if (change._tag === "Completed" || change._tag === "Discarded") open.delete(id)
          if (change._tag === "Completed") assert.notStrictEqual(change.item.status, "running")
        }
      }
      assert.deepStrictEqual([...open], [])
    },
    { arbitrary: { runs: 500 } },
  )

  it.prop(
    "a state can be continued more than once",
    { drawn: log, at: Arbitrary.schema(Schema.Literals([0, 1, 5, 20])) },
    ({ at, drawn }) => {
      const events = logOf(drawn)
      const before = events
        .slice(0, at)
        .reduce((state, event) => step(state, event).state, initialItems)
      const continued = () => {
        let state = before
        return events.slice(at).flatMap((event) => {
          const next = step(state, event)
          state = next.state
          return next.changes
        })
      }
      assert.deepStrictEqual(continued(), continued())
    },
  )
})
