import { type Event, type EventMsg, isEphemeral } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import { ThreadFold } from "../../src/thread/ThreadFold.ts"

const completed = (msgs: ReadonlyArray<EventMsg>): ReadonlyArray<string> => {
  const fold = new ThreadFold()
  return msgs.flatMap((msg, seq) => {
    const event: Event = { seq, id: "t", msg }
    return fold
      .step(event, seq)
      .flatMap((output) => (output._tag === "ItemCompleted" ? [output.item.id] : []))
  })
}

describe("ThreadFold", () => {
  it("a message that is sent again follows the reasoning of its repeated request, live as in the log", () => {
    const msgs: ReadonlyArray<EventMsg> = [
      { type: "task_started", model_context_window: null },
      { type: "agent_message_delta", delta: "He" },
      { type: "stream_error", message: "cut" },
      { type: "agent_reasoning_delta", delta: "think" },
      { type: "agent_reasoning", text: "think" },
      { type: "agent_message_delta", delta: "Hello" },
      { type: "agent_message", message: "Hello" },
      { type: "task_complete", last_agent_message: "Hello" },
    ]
    const live = completed(msgs)
    const read = completed(msgs.filter((msg) => !isEphemeral(msg)))
    assert.deepStrictEqual(read, ["t/reasoning/0", "t/agent_message/0"])
    // What of the message was sent before its request was cut off completes before.
    assert.deepStrictEqual(live.slice(-2), read)
  })

  it.each<readonly [string, ReadonlyArray<EventMsg>, ReadonlyArray<string>]>([
    ["ends as it was reported", [{ type: "turn_aborted", reason: "interrupted" }], []],
    [
      "is started again when it goes on",
      [
        { type: "background_event", message: "the turn is resumed, attempt 2 of 3" },
        { type: "agent_message_delta", delta: "More" },
        { type: "agent_message", message: "More" },
        { type: "task_complete", last_agent_message: "More" },
      ],
      ["TurnStarted", "ItemStarted", "ItemCompleted", "Unread", "TurnCompleted", "completed"],
    ],
    [
      "is started again when it completes without an item",
      [{ type: "task_complete", last_agent_message: null }],
      ["TurnStarted", "TurnCompleted", "completed"],
    ],
  ])("an abandoned turn %s", (_, rest, expected) => {
    const fold = new ThreadFold()
    fold.step({ seq: 0, id: "t", msg: { type: "task_started", model_context_window: null } }, 0)
    const names = (outputs: ReturnType<typeof fold.step>) =>
      outputs.flatMap((one) => {
        if (one._tag === "TurnCompleted") return ["TurnCompleted", one.turn.status]
        return one._tag === "Status" || one._tag === "Message" ? [] : [one._tag]
      })
    assert.deepStrictEqual(names(fold.abandon("the disk is full", 1)), [
      "TurnCompleted",
      "interrupted",
    ])
    const later: ReadonlyArray<unknown> = rest.flatMap((msg, i) =>
      names(fold.step({ seq: i + 1, id: "t", msg }, i)),
    )
    assert.deepStrictEqual(
      later.filter((name) => typeof name !== "string" || !name.endsWith("Delta")),
      [...expected],
    )
    assert.deepStrictEqual(fold.status, { type: "idle" })
  })

  it("an error after which the turn goes on is a warning; one that ends the turn is why it failed", () => {
    const fold = new ThreadFold()
    const error: EventMsg = { type: "error", message: "the tool server does not start" }
    const end: EventMsg = { type: "task_complete", last_agent_message: null }
    const msgs: ReadonlyArray<EventMsg> = [
      { type: "task_started", model_context_window: null },
      error,
      { type: "agent_message", message: "Hello" },
      end,
      { type: "task_started", model_context_window: null },
      error,
      end,
    ]
    const shown = msgs.flatMap((msg, seq) =>
      fold.step({ seq, id: seq < 4 ? "t" : "u", msg }, seq).flatMap((output) => {
        if (output._tag === "Message" && output.msg.type === "warning") return [output.msg.message]
        return output._tag === "TurnCompleted"
          ? [output.turn.status, output.turn.error?.message]
          : []
      }),
    )
    assert.deepStrictEqual(shown, [
      "the tool server does not start",
      "completed",
      undefined,
      "failed",
      "the tool server does not start",
    ])
  })
})
