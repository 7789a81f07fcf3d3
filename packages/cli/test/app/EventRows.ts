/** Rows for the notifications about conversations: the methods of `app/Events.ts`. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fs from "node:fs"
import { join } from "node:path"
import type { App } from "./App.ts"
import { ending, events, listening, made, patch, row, say, shell, turn } from "./Row.ts"

const usage = { usage: { input_tokens: 10, output_tokens: 5 } }

const look = "echo out; exit 3"

const plan = { plan: [{ step: "one", status: "completed" }] }

/** The token usage after this many responses. */
const tokenCountAfter = (responses: number) => {
  const flat = (n: number) => ({
    input_tokens: 10 * n,
    cached_input_tokens: 0,
    output_tokens: 5 * n,
    reasoning_output_tokens: 0,
    total_tokens: 15 * n,
  })
  const info = {
    total_token_usage: flat(responses),
    last_token_usage: flat(1),
    model_context_window: null,
  }
  return { type: "token_count", info, rate_limits: null, ...flat(1) }
}

/** The events that the server sends for the script below. */
const story = (cwd: string): ReadonlyArray<object> => {
  const changes = { [join(cwd, "made.txt")]: { add: { content: "made\n" } } }
  const call = { call_id: "call" }
  return [
    { type: "task_started", model_context_window: null },
    { type: "agent_reasoning_section_break" },
    { type: "agent_reasoning_delta", delta: "hm" },
    { type: "agent_reasoning", text: "hm" },
    { type: "agent_message_delta", delta: "Look" },
    { type: "agent_message_delta", delta: ":" },
    { type: "agent_message", message: "Look:" },
    {
      ...call,
      type: "exec_command_begin",
      command: ["bash", "-lc", look],
      cwd,
      parsed_cmd: [{ type: "unknown", cmd: "exit 3" }],
    },
    { ...call, type: "exec_command_output_delta", stream: "stdout", chunk: "b3V0Cg==" },
    {
      ...call,
      type: "exec_command_end",
      stdout: "out\n",
      stderr: "",
      aggregated_output: "out\n",
      exit_code: 3,
      duration: "measured",
      formatted_output: "out\n",
    },
    tokenCountAfter(1),
    { type: "plan_update", explanation: null, ...plan },
    tokenCountAfter(2),
    { call_id: "patch", type: "patch_apply_begin", auto_approved: true, changes },
    {
      call_id: "patch",
      type: "patch_apply_end",
      stdout: "Success. Updated the following files:\nA made.txt\n",
      stderr: "",
      success: true,
    },
    {
      type: "turn_diff",
      unified_diff: [
        "diff --git a/made.txt b/made.txt",
        "new file mode 100644",
        `index ${"0".repeat(40)}..c5f1b8eaf85917b894fea0c18c228e380290308a`,
        "--- /dev/null",
        "+++ b/made.txt",
        "@@ -0,0 +1 @@",
        "+made",
        "",
      ].join("\n"),
    },
    tokenCountAfter(3),
    { type: "agent_message_delta", delta: "Done." },
    { type: "agent_message", message: "Done." },
    tokenCountAfter(4),
    { type: "task_complete", last_agent_message: "Done." },
  ]
}

const timeless = (msg: unknown) => {
  const members = msg as Readonly<Record<string, unknown>>
  return "duration" in members ? { ...members, duration: "measured" } : members
}

const codexEvent = row(
  "reports a turn with reasoning, messages, a command, a plan and a patch",
  {
    script: [
      [{ reasoning: "hm" }, { text: "Look:", deltas: ["Look", ":"] }, shell(look), usage],
      [{ tool_call: { name: "update_plan", arguments: plan } }, usage],
      [patch, usage],
      [{ text: "Done." }, usage],
    ],
  },
  (app) =>
    Effect.gen(function* () {
      const { conversationId } = yield* made(app)
      const subscriptionId = yield* listening(app, conversationId)
      yield* say(app, conversationId, "go")
      yield* ending(app, "0")
      const expected = story(app.work)
      assert.deepStrictEqual<unknown>(
        events(app).map(([seq, msg]) => [seq, timeless(msg)]),
        // A client of the original protocol receives no event numbers.
        expected.map((msg) => [undefined, msg]),
      )
      assert.deepStrictEqual(
        app.messages.slice(-expected.length).map(({ method, params }) => {
          const { msg: _, ...rest } = params ?? {}
          return [method, rest]
        }),
        expected.map((msg) => [
          `codex/event/${String(timeless(msg)["type"])}`,
          { id: "0", conversationId, subscriptionId },
        ]),
      )
    }),
)

/** Numbers of the durable events received, beginning with the message at index `from`. */
const durable = (app: App, from = 0) =>
  app.messages
    .slice(from)
    .flatMap(({ method, params }) =>
      (method?.startsWith("codex/event/") === true && !method.endsWith("_delta")) ||
      method === "conversationSkipped"
        ? [Number(params?.["seq"])]
        : [],
    )

const sessionConfigured = row(
  "follows the response to the client that resumes a conversation",
  {},
  (app) =>
    Effect.gen(function* () {
      const { conversationId, rolloutPath } = yield* made(app, {
        config: { model_reasoning_effort: "low" },
      })
      yield* listening(app, conversationId)
      yield* turn(app, conversationId, "say one")
      const before = app.messages.length
      const { initialMessages } = yield* app.ask("resumeConversation", { path: rolloutPath })
      assert.deepStrictEqual(yield* app.received("sessionConfigured"), {
        sessionId: conversationId,
        model: "offline",
        reasoningEffort: "low",
        historyLogId: 0,
        historyEntryCount: 0,
        initialMessages,
        rolloutPath,
      })
      assert.deepStrictEqual(
        app.messages.slice(before).map(({ method }) => method ?? "answer"),
        ["answer", "sessionConfigured"],
      )
    }),
)

const conversationSynced = row("is sent between the missed events and the live ones", {}, (app) =>
  Effect.gen(function* () {
    const { conversationId } = yield* made(app)
    const subscriptionId = yield* listening(app, conversationId, { after: -1 })
    assert.deepStrictEqual(yield* app.received("conversationSynced"), {
      conversationId,
      subscriptionId,
      seq: 2,
    })
    assert.deepStrictEqual(
      events(app).map(([seq]) => seq),
      [0],
    )
    yield* turn(app, conversationId, "say one")
    assert.deepStrictEqual(events(app)[1]?.[0], 2)
  }),
)

/** More events and bytes than a listener's unread limit, the server's outbox and the pipe can hold together. */
const much = Array.from({ length: 1000 }, (_, n) => ({ text: `${n} ${"x".repeat(5000)}` }))

/** Whether the end of the rollout file has this event. Reads only the end, because the file is large. */
const isWritten = (path: string, type: string) => {
  const file = Fs.openSync(path, "r")
  const end = Buffer.alloc(64 * 1024)
  Fs.readSync(file, end, 0, end.length, Math.max(0, Fs.fstatSync(file).size - end.length))
  Fs.closeSync(file)
  return end.includes(`"${type}"`)
}

/** Positions of this method's messages among all received messages. */
const positions = (app: App, method: string) =>
  app.messages.flatMap((message, at) => (message.method === method ? [at] : []))

const conversationLagged = row(
  "names the event from which durable events follow again, to a client that does not read",
  { script: [much] },
  (app) =>
    Effect.gen(function* () {
      const { conversationId, rolloutPath } = yield* made(app)
      const subscriptionId = yield* listening(app, conversationId, {
        after: -1,
        experimentalRawEvents: true,
      })
      yield* say(app, conversationId, "go")
      yield* app.reading.close
      // The turn ends although the client reads nothing.
      while (!isWritten(rolloutPath, "task_complete")) yield* Effect.sleep("20 millis")
      yield* app.reading.open
      const { params } = yield* ending(app, "0")
      // After the last `lagged` marker the listener receives `synced` once it has every event.
      yield* app.until(
        () =>
          (positions(app, "conversationSynced").at(-1) ?? 0) >
          (positions(app, "conversationLagged").at(-1) ?? 0),
      )
      assert.deepStrictEqual(
        durable(app),
        Array.from({ length: Number(params?.["seq"]) + 1 }, (_, n) => n),
      )
      const lags = positions(app, "conversationLagged")
      assert.isNotEmpty(lags)
      assert.deepStrictEqual(
        lags.map((at) => app.messages[at]?.params),
        lags.map((at) => ({ conversationId, subscriptionId, from: durable(app, at)[0] })),
      )
    }),
)

const conversationClosed = row(
  "is the last notification of a conversation that is archived",
  {},
  (app) =>
    Effect.gen(function* () {
      const { conversationId } = yield* made(app)
      const subscriptionId = yield* listening(app, conversationId, { after: -1 })
      yield* turn(app, conversationId, "say one")
      yield* app.ask("archiveConversation", { conversationId })
      assert.deepStrictEqual(yield* app.received("conversationClosed"), {
        conversationId,
        subscriptionId,
      })
      assert.deepStrictEqual(events(app).at(-1)?.[1], { type: "shutdown_complete" })
    }),
)

const conversationSkipped = row("has the number of an event that is not sent", {}, (app) =>
  Effect.gen(function* () {
    const { conversationId } = yield* made(app)
    const subscriptionId = yield* listening(app, conversationId, { after: -1 })
    yield* turn(app, conversationId, "say one")
    const skipped = app.messages.filter(({ method }) => method === "conversationSkipped")
    assert.isNotEmpty(skipped)
    const seqs = skipped.map(({ params }) => Number(params?.["seq"]))
    assert.deepStrictEqual(
      skipped.map(({ params }) => params),
      seqs.map((seq) => ({ conversationId, subscriptionId, seq })),
    )
    const all = durable(app)
    assert.deepStrictEqual(
      all,
      all.map((_, n) => n),
    )
  }),
)

export const eventRows = {
  "codex/event": codexEvent,
  sessionConfigured,
  conversationSynced,
  conversationLagged,
  conversationSkipped,
  conversationClosed,
} as const
