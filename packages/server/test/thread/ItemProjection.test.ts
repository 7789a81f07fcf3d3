/** The items of threads as a projection of events: one row per kind of item, and what holds for any events. */
import { compactionNotice } from "@colloquy/core/log/Item"
import { unfinishedAfter, unfinishedEvents } from "@colloquy/core/log/UnfinishedText"
import { type Event, type EventMsg, isEphemeral } from "@colloquy/protocol/EventMsg"
import type { ThreadItem } from "@colloquy/protocol/thread/Items"
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Base64 from "effect/encoding/Base64"
import * as Schema from "effect/Schema"
import { ThreadFold, type ThreadOutput } from "../../src/thread/ThreadFold.ts"
import { at } from "../support/Threading.ts"

const duration = { secs: 1, nanos: 500_000_000 }
const started: EventMsg = { type: "task_started", model_context_window: null }
const complete: EventMsg = { type: "task_complete", last_agent_message: null }
const aborted: EventMsg = { type: "turn_aborted", reason: "interrupted" }

/** Events with their times: an event that is not recorded has that of the one before. */
const timed = (msgs: ReadonlyArray<EventMsg>): ReadonlyArray<readonly [EventMsg, number]> => {
  let recorded = 0
  return msgs.map((msg) => [msg, 1000 * (isEphemeral(msg) ? recorded : ++recorded)] as const)
}

const outputsAt = (
  msgs: ReadonlyArray<readonly [EventMsg, number]>,
): ReadonlyArray<ThreadOutput> => {
  const fold = new ThreadFold()
  return msgs.flatMap(([msg, atMs], seq) => {
    const event: Event = { seq, id: "t", msg }
    return fold.step(event, atMs)
  })
}

const outputsOf = (msgs: ReadonlyArray<EventMsg>): ReadonlyArray<ThreadOutput> =>
  outputsAt(timed(msgs))

const inTurn = (...msgs: ReadonlyArray<EventMsg>) => outputsOf([started, ...msgs, complete])

/** One line per output about items: what happened, and the members of the item that say what it is. */
const shown = (output: ThreadOutput): ReadonlyArray<string> => {
  switch (output._tag) {
    case "ItemStarted":
    case "ItemCompleted": {
      const { item } = output
      const status = "status" in item ? ` ${item.status}` : ""
      return [`${output._tag === "ItemStarted" ? "start" : "end"} ${item.type} ${item.id}${status}`]
    }
    case "MessageDelta":
    case "OutputDelta":
    case "SummaryDelta":
    case "ReasoningDelta":
      return [`delta ${output.itemId} ${output.delta}`]
    case "CallProgress":
      return [`progress ${output.itemId} ${output.message}`]
    case "PartAdded":
      return [`part ${output.itemId} ${output.index}`]
    default:
      return []
  }
}

const begin: EventMsg = {
  type: "exec_command_begin",
  call_id: "c",
  command: ["bash", "-lc", "cat a.txt"],
  cwd: "/work",
  parsed_cmd: [{ type: "read", cmd: "cat a.txt", name: "a.txt" }],
}
const bytesChunk = (bytes: ReadonlyArray<number>): EventMsg => ({
  type: "exec_command_output_delta",
  call_id: "c",
  stream: "stdout",
  chunk: Base64.encode(Uint8Array.from(bytes)),
})
const chunk = (text: string): EventMsg => bytesChunk([...new TextEncoder().encode(text)])
const endWith = (output: string, exit_code = 0): EventMsg => ({
  type: "exec_command_end",
  call_id: "c",
  stdout: output,
  stderr: "",
  aggregated_output: output,
  exit_code,
  duration,
})
const end = (exit_code: number): EventMsg => endWith("out", exit_code)
const question: EventMsg = {
  type: "exec_approval_request",
  call_id: "c",
  command: ["touch", "a"],
  cwd: "/work",
  reason: "outside",
}
const resolved = (decision: "approved" | "denied"): EventMsg => ({
  type: "approval_resolved",
  call_id: "c",
  decision,
  reason: "answered",
})
const changes = {
  "/work/b": { add: { content: "b\n" } },
  "/work/a": {
    update: { unified_diff: "--- a\n+++ a\n@@ -1 +1 @@\n-x\n+y\n", move_path: "/work/c" },
  },
} as const
const invocation = { server: "s", tool: "t", arguments: { a: 1 } }

/** What happens, and what a client is shown. */
const rows: ReadonlyArray<readonly [string, ReadonlyArray<EventMsg>, ReadonlyArray<string>]> = [
  [
    "a message grows and ends",
    [
      { type: "agent_message_delta", delta: "Hel" },
      { type: "agent_message_delta", delta: "lo" },
      { type: "agent_message", message: "Hello" },
    ],
    [
      "start agentMessage t/agent_message/0",
      "delta t/agent_message/0 Hel",
      "delta t/agent_message/0 lo",
      "end agentMessage t/agent_message/0",
    ],
  ],
  [
    "the part of a message that was not received in deltas is sent before its end",
    [
      { type: "agent_message_delta", delta: "Hel" },
      { type: "agent_message", message: "Hello" },
    ],
    [
      "start agentMessage t/agent_message/0",
      "delta t/agent_message/0 Hel",
      "delta t/agent_message/0 lo",
      "end agentMessage t/agent_message/0",
    ],
  ],
  [
    "the sections of reasoning are one item",
    [
      { type: "agent_reasoning_delta", delta: "one" },
      { type: "agent_reasoning", text: "one" },
      { type: "agent_reasoning_section_break" },
      { type: "agent_reasoning_delta", delta: "two" },
      { type: "agent_reasoning", text: "two" },
    ],
    [
      "start reasoning t/reasoning/0",
      "part t/reasoning/0 0",
      "delta t/reasoning/0 one",
      "part t/reasoning/0 1",
      "delta t/reasoning/0 two",
      "end reasoning t/reasoning/0",
    ],
  ],
  [
    "the part of a section that was not received in deltas is sent when it is recorded",
    [
      { type: "agent_reasoning_delta", delta: "on" },
      { type: "agent_reasoning_raw_content_delta", delta: "ra" },
      { type: "agent_reasoning", text: "one" },
      { type: "agent_reasoning_raw_content_delta", delta: "w" },
      { type: "agent_reasoning_raw_content", text: "raw" },
    ],
    [
      "start reasoning t/reasoning/0",
      "part t/reasoning/0 0",
      "delta t/reasoning/0 on",
      "delta t/reasoning/0 ra",
      "delta t/reasoning/0 e",
      "delta t/reasoning/0 w",
      "end reasoning t/reasoning/0",
    ],
  ],
  [
    "reasoning that is recorded on both sides of a message is two items, wherever the message began",
    [
      { type: "agent_message_delta", delta: "Hi" },
      { type: "agent_reasoning", text: "one" },
      { type: "agent_message", message: "Hi" },
      { type: "agent_reasoning", text: "two" },
    ],
    [
      "start agentMessage t/agent_message/0",
      "delta t/agent_message/0 Hi",
      "start reasoning t/reasoning/0",
      "part t/reasoning/0 0",
      "delta t/reasoning/0 one",
      "end reasoning t/reasoning/0",
      "end agentMessage t/agent_message/0",
      "start reasoning t/reasoning/1",
      "part t/reasoning/1 0",
      "delta t/reasoning/1 two",
      "end reasoning t/reasoning/1",
    ],
  ],
  [
    "reasoning starts again when more of it is recorded before the message that had begun",
    [
      { type: "agent_reasoning", text: "one" },
      { type: "agent_message_delta", delta: "Hi" },
      { type: "agent_reasoning", text: "two" },
      { type: "agent_message", message: "Hi" },
    ],
    [
      "start reasoning t/reasoning/0",
      "part t/reasoning/0 0",
      "delta t/reasoning/0 one",
      "end reasoning t/reasoning/0",
      "start agentMessage t/agent_message/0",
      "delta t/agent_message/0 Hi",
      "start reasoning t/reasoning/0",
      "part t/reasoning/0 0",
      "delta t/reasoning/0 one",
      "part t/reasoning/0 1",
      "delta t/reasoning/0 two",
      "end reasoning t/reasoning/0",
      "end agentMessage t/agent_message/0",
    ],
  ],
  [
    "a section that is still being received when a call is recorded begins the next reasoning",
    [
      { type: "agent_reasoning_delta", delta: "one" },
      { type: "agent_reasoning", text: "one" },
      { type: "agent_reasoning_section_break" },
      { type: "agent_reasoning_delta", delta: "two" },
      begin,
      { type: "agent_reasoning", text: "two" },
      end(0),
    ],
    [
      "start reasoning t/reasoning/0",
      "part t/reasoning/0 0",
      "delta t/reasoning/0 one",
      "part t/reasoning/0 1",
      "delta t/reasoning/0 two",
      "end reasoning t/reasoning/0",
      "start reasoning t/reasoning/0",
      "part t/reasoning/0 0",
      "delta t/reasoning/0 one",
      "end reasoning t/reasoning/0",
      "start reasoning t/reasoning/1",
      "part t/reasoning/1 0",
      "delta t/reasoning/1 two",
      "start commandExecution t/command/0 inProgress",
      "end reasoning t/reasoning/1",
      "delta t/command/0 out",
      "end commandExecution t/command/0 completed",
    ],
  ],
  [
    "the summary and the text of reasoning are one item, whichever arrives first",
    [
      { type: "agent_reasoning_raw_content_delta", delta: "raw" },
      { type: "agent_reasoning_delta", delta: "one" },
      { type: "agent_reasoning", text: "one" },
      { type: "agent_reasoning_raw_content", text: "raw" },
    ],
    [
      "start reasoning t/reasoning/0",
      "delta t/reasoning/0 raw",
      "part t/reasoning/0 0",
      "delta t/reasoning/0 one",
      "end reasoning t/reasoning/0",
    ],
  ],
  [
    "a command has its output and its end",
    [begin, chunk("o"), chunk("ut"), end(0)],
    [
      "start commandExecution t/command/0 inProgress",
      "delta t/command/0 o",
      "delta t/command/0 ut",
      "end commandExecution t/command/0 completed",
    ],
  ],
  [
    "a command with another exit code than 0 has failed",
    [begin, end(1)],
    [
      "start commandExecution t/command/0 inProgress",
      "delta t/command/0 out",
      "end commandExecution t/command/0 failed",
    ],
  ],
  [
    "the deltas of a command have its byte order mark, and the bytes at its end that no character completes",
    [begin, bytesChunk([0xef, 0xbb, 0xbf, 0x61, 0xe2, 0x82]), endWith("\ufeffa\ufffd")],
    [
      "start commandExecution t/command/0 inProgress",
      "delta t/command/0 \ufeffa",
      "delta t/command/0 \ufffd",
      "end commandExecution t/command/0 completed",
    ],
  ],
  [
    "a question and its command are one item",
    [question, resolved("approved"), begin, end(0)],
    [
      "start commandExecution t/question/0 inProgress",
      "delta t/question/0 out",
      "end commandExecution t/question/0 completed",
    ],
  ],
  [
    "a call that was asked about and runs under another id completes when that one is asked about",
    [
      question,
      resolved("approved"),
      { ...question, call_id: "c-2" },
      { ...resolved("approved"), call_id: "c-2" } as EventMsg,
      { ...begin, call_id: "c-2" },
      { ...end(0), call_id: "c-2" } as EventMsg,
    ],
    [
      "start commandExecution t/question/0 inProgress",
      "end commandExecution t/question/0 completed",
      "start commandExecution t/question/1 inProgress",
      "delta t/question/1 out",
      "end commandExecution t/question/1 completed",
    ],
  ],
  [
    "a declined question ends its item",
    [question, resolved("denied")],
    [
      "start commandExecution t/question/0 inProgress",
      "end commandExecution t/question/0 declined",
    ],
  ],
  [
    "a patch that fails",
    [
      { type: "patch_apply_begin", call_id: "c", auto_approved: true, changes },
      { type: "patch_apply_end", call_id: "c", stdout: "", stderr: "no", success: false },
    ],
    ["start fileChange t/file_change/0 inProgress", "end fileChange t/file_change/0 failed"],
  ],
  [
    "a call of a tool server",
    [
      { type: "mcp_tool_call_begin", call_id: "c", invocation },
      { type: "mcp_tool_call_end", call_id: "c", invocation, duration, result: { Err: "no" } },
    ],
    ["start mcpToolCall t/mcp_tool_call/0 inProgress", "end mcpToolCall t/mcp_tool_call/0 failed"],
  ],
  [
    "the progress of a call: the words of its server, or its numbers, and none of a call that has ended",
    [
      { type: "mcp_tool_call_begin", call_id: "c", invocation },
      { type: "mcp_tool_call_progress", call_id: "c", progress: 1, message: "half" },
      { type: "mcp_tool_call_progress", call_id: "c", progress: 2, total: 3 },
      { type: "mcp_tool_call_progress", call_id: "c", progress: 2.5, message: "" },
      { type: "mcp_tool_call_progress", call_id: "another", progress: 1, message: "lost" },
      { type: "mcp_tool_call_end", call_id: "c", invocation, duration, result: { Err: "no" } },
      { type: "mcp_tool_call_progress", call_id: "c", progress: 3, message: "late" },
    ],
    [
      "start mcpToolCall t/mcp_tool_call/0 inProgress",
      "progress t/mcp_tool_call/0 half",
      "progress t/mcp_tool_call/0 2/3",
      "progress t/mcp_tool_call/0 2.5",
      "end mcpToolCall t/mcp_tool_call/0 failed",
    ],
  ],
  [
    "a call that a tool refuses",
    [
      { type: "tool_call_begin", call_id: "c", tool: "apply_patch", arguments: {} },
      { type: "tool_call_end", call_id: "c", tool: "apply_patch", duration, result: { Err: "no" } },
    ],
    ["start dynamicToolCall t/tool_call/0 inProgress", "end dynamicToolCall t/tool_call/0 failed"],
  ],
  [
    "a search of the provider",
    [
      { type: "web_search_begin", call_id: "c" },
      { type: "web_search_end", call_id: "c", query: "q" },
    ],
    ["start webSearch t/web_search/0", "end webSearch t/web_search/0"],
  ],
  [
    "an image that is read, a message of the user and a summary start and end at once",
    [
      { type: "user_message", message: "hi" },
      { type: "view_image_tool_call", call_id: "c", path: "/a.png" },
      { type: "compacted", message: "all of it" },
      { type: "agent_message", message: "Compact task completed" },
    ],
    [
      "start userMessage t/user_message/0",
      "end userMessage t/user_message/0",
      "start imageView t/image_view/0",
      "end imageView t/image_view/0",
      "start contextCompaction t/compaction/0",
      "end contextCompaction t/compaction/0",
    ],
  ],
]

describe("items of threads", () => {
  it.each(rows)("%s", (_, msgs, expected) => {
    assert.deepStrictEqual(inTurn(...msgs).flatMap(shown), expected)
  })

  it("a file change has its files in order, contents for new files and hunks for changed ones", () => {
    const [output] = inTurn({
      type: "patch_apply_begin",
      call_id: "c",
      auto_approved: true,
      changes,
    }).filter(({ _tag }) => _tag === "ItemStarted")
    assert.deepStrictEqual(at(output, "item", "changes"), [
      {
        path: "/work/a",
        kind: { type: "update", move_path: "/work/c" },
        diff: "@@ -1 +1 @@\n-x\n+y\n\n\nMoved to: /work/c",
      },
      { path: "/work/b", kind: { type: "add" }, diff: "b\n" },
    ])
  })

  it("a command says what it does, with absolute paths, and how long it took", () => {
    const [output] = inTurn(begin, end(0)).filter(({ _tag }) => _tag === "ItemCompleted")
    const item = at(output, "item")
    assert.deepStrictEqual(at(item, "commandActions"), [
      { type: "read", command: "cat a.txt", name: "a.txt", path: "/work/a.txt" },
    ])
    assert.deepStrictEqual(
      [at(item, "aggregatedOutput"), at(item, "exitCode"), at(item, "durationMs")],
      ["out", 0, 1500],
    )
  })

  it.each([
    ["completed", complete],
    ["aborted", aborted],
  ] as const)(
    "every item that is open when its turn is %s is completed before the turn",
    (_, last) => {
      const open: ReadonlyArray<EventMsg> = [
        started,
        { type: "agent_reasoning_delta", delta: "hm" },
        { type: "agent_message_delta", delta: "Hel" },
        begin,
        { type: "mcp_tool_call_begin", call_id: "m", invocation },
        { type: "patch_apply_begin", call_id: "p", auto_approved: true, changes },
        last,
      ]
      const outputs = outputsOf(open)
      const ids = (tag: ThreadOutput["_tag"]) =>
        outputs.flatMap((output) =>
          output._tag === tag && "item" in output ? [output.item.id] : [],
        )
      assert.lengthOf(ids("ItemStarted"), 5)
      assert.sameMembers(ids("ItemCompleted"), ids("ItemStarted"))
      assert.strictEqual(outputs.at(-1)?._tag, "TurnCompleted")
    },
  )
})

/** What belongs to no row, and ends texts. */
const others: ReadonlyArray<EventMsg> = [
  { type: "stream_error", message: "again" },
  { type: "token_count", info: null },
  { type: "agent_reasoning_raw_content_delta", delta: "raw" },
  { type: "agent_reasoning_raw_content", text: "raw" },
  { type: "agent_message_delta", delta: "" },
  { type: "plan_update", explanation: null, plan: [] },
]

/** Events of a turn in any order, by their place among those of the rows. */
const msgsOfRows = [...rows.flatMap(([, msgs]) => msgs), ...others]
const places = Arbitrary.array(
  Arbitrary.schema(Schema.Literals(msgsOfRows.map((_, place) => place))),
  { minLength: 6, maxLength: 40 },
)

/** The turn with these events: what its texts have left unfinished is recorded before its end, as in a conversation. */
const turnWith = (drawn: ReadonlyArray<number>, last: EventMsg): ReadonlyArray<EventMsg> => {
  const msgs = drawn.flatMap((place) => msgsOfRows[place] ?? [])
  const summarised = msgs.findIndex(({ type }) => type === "compacted")
  // The message that follows a summary ends no text.
  const texts = msgs.filter(
    (msg, place) =>
      !(msg.type === "agent_message" && msg.message === compactionNotice) ||
      place < summarised ||
      summarised < 0,
  )
  return [started, ...msgs, ...unfinishedEvents(unfinishedAfter(undefined, "t", texts)), last]
}

const completedOf = (outputs: ReadonlyArray<ThreadOutput>): ReadonlyArray<ThreadItem> =>
  outputs.flatMap((output) => (output._tag === "ItemCompleted" ? [output.item] : []))

/** Items by their ids, as they were completed last. */
const lastOf = (items: ReadonlyArray<ThreadItem>) =>
  new Map(
    items
      .toSorted((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
      .map((item) => [item.id, item]),
  )

const turnEndOf = (outputs: ReadonlyArray<ThreadOutput>) =>
  outputs.flatMap((output) => (output._tag === "TurnCompleted" ? [output.turn] : []))

/** The texts of one response, without its end. */
const ofOneResponse = (msgs: ReadonlyArray<EventMsg>) =>
  msgs.filter(({ type }) => type !== "token_count" && type !== "compacted")

it("a text starts when its request could be sent: with its turn, or at the end of the response before", () => {
  const usage: EventMsg = { type: "token_count", info: null }
  const msgs: ReadonlyArray<EventMsg> = [
    started,
    { type: "user_message", message: "hi", kind: "plain" },
    { type: "agent_reasoning_delta", delta: "why" },
    { type: "agent_reasoning", text: "why" },
    begin,
    endWith(""),
    usage,
    { type: "agent_message_delta", delta: "so" },
    { type: "agent_message", message: "so" },
    usage,
    complete,
  ]
  const times = (some: ReadonlyArray<EventMsg>) =>
    completedOf(outputsOf(some)).map((item) => [item.type, item.startedAtMs, item.completedAtMs])
  assert.deepStrictEqual(times(msgs), [
    ["userMessage", 2000, 2000],
    ["reasoning", 1000, 3000],
    ["commandExecution", 4000, 5000],
    ["agentMessage", 6000, 7000],
  ])
  assert.deepStrictEqual(times(msgs.filter((msg) => !isEphemeral(msg))), times(msgs))
})

describe("items of any events", () => {
  it.prop(
    "an item has one start, when it starts and when it completes",
    { drawn: places, isAborted: Arbitrary.schema(Schema.Boolean) },
    ({ drawn, isAborted }) => {
      const starts = new Map<string, number | null>()
      for (const output of outputsOf(
        ofOneResponse(turnWith(drawn, isAborted ? aborted : complete)),
      )) {
        if (output._tag === "ItemStarted") starts.set(output.item.id, output.item.startedAtMs)
        if (output._tag !== "ItemCompleted") continue
        assert.strictEqual(output.item.startedAtMs, starts.get(output.item.id))
      }
    },
    { arbitrary: { runs: 500 } },
  )

  it.prop(
    "every item that starts completes as often, before its turn",
    { drawn: places, isAborted: Arbitrary.schema(Schema.Boolean) },
    ({ drawn, isAborted }) => {
      const outputs = outputsOf(turnWith(drawn, isAborted ? aborted : complete))
      const starts = outputs.flatMap((output) =>
        output._tag === "ItemStarted" ? [output.item.id] : [],
      )
      const ends = completedOf(outputs).map(({ id }) => id)
      assert.deepStrictEqual(ends.toSorted(), starts.toSorted())
      assert.strictEqual(outputs.at(-1)?._tag, "TurnCompleted")
    },
    { arbitrary: { runs: 500 } },
  )

  it.prop(
    "the items and the turn that are read back are those that were notified, with the same times",
    { drawn: places, isAborted: Arbitrary.schema(Schema.Boolean) },
    ({ drawn, isAborted }) => {
      const msgs = turnWith(drawn, isAborted ? aborted : complete)
      const outputs = outputsOf(msgs)
      const readOutputs = outputsOf(msgs.filter((msg) => !isEphemeral(msg)))
      const live = completedOf(outputs)
      const read = completedOf(readOutputs)
      assert.deepStrictEqual(turnEndOf(readOutputs), turnEndOf(outputs))
      assert.deepStrictEqual([...lastOf(read)], [...lastOf(live)])
      assert.strictEqual(lastOf(read).size, read.length, "an item is read back more than once")
    },
    { arbitrary: { runs: 500 } },
  )
})
