import type { AnyEventMsg } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Renderer from "../src/demo/Renderer.ts"
import { textStart, wrap } from "../src/demo/Wrap.ts"

const usage = {
  input_tokens: 12,
  cached_input_tokens: 0,
  output_tokens: 7,
  reasoning_output_tokens: 0,
  total_tokens: 19,
}

const turn: ReadonlyArray<AnyEventMsg> = [
  { type: "task_started", model_context_window: null },
  { type: "agent_reasoning_delta", delta: "Let me" },
  { type: "agent_reasoning_delta", delta: " think." },
  { type: "agent_reasoning", text: "Let me think." },
  { type: "agent_message_delta", delta: "Hello" },
  { type: "agent_message_delta", delta: ", you." },
  { type: "agent_message", message: "Hello, you." },
  {
    type: "token_count",
    info: { total_token_usage: usage, last_token_usage: usage, model_context_window: null },
  },
  { type: "unknown_event", sent: { type: "event_of_the_future", x: 1 } },
  { type: "task_complete", last_agent_message: "Hello, you." },
]

/** Renders the events, each 100 ms after the previous one. */
const show = (options: Renderer.RendererOptions, events: ReadonlyArray<AnyEventMsg>) => {
  const renderer = Renderer.make(options)
  return [
    renderer.prompt("Hi", 0),
    ...events.map((event, index) => renderer.event(event, (index + 1) * 100)),
  ]
}

const plain = { live: false, color: false, columns: 80 }

/** The final text on a terminal: applies the escape sequences that the renderer uses. */
const screen = (pieces: ReadonlyArray<string>) => {
  const lines = [""]
  // oxlint-disable-next-line no-control-regex -- the point of it
  for (const token of pieces.join("").match(/\u001b\[[0-9]*[mK]|[\s\S]/g) ?? []) {
    const last = lines.length - 1
    if (token === "\n") lines.push("")
    else if (token === "\b") lines[last] = (lines[last] ?? "").slice(0, -1)
    else if (token === "\r") lines[last] = ""
    else if (!token.startsWith("\u001b")) lines[last] += token
  }
  return lines
}

describe("Renderer", () => {
  it("outside a terminal whole items are printed as plain lines", () => {
    assert.strictEqual(
      show(plain, turn).join(""),
      [
        "› Hi",
        "",
        "  Let me think.",
        "",
        "  Hello, you.",
        "  — 12 tokens in, 7 out · first word after 200 ms · 1.0 s in all",
        "",
        "",
      ].join("\n"),
    )
  })

  it("on a terminal every piece appears at once and no part of the progress mark remains", () => {
    const pieces = show({ ...plain, live: true }, turn)
    assert.deepStrictEqual(screen(pieces), [
      "› Hi",
      "",
      "  Let me think.",
      "",
      "  Hello, you.",
      "  — 12 tokens in, 7 out · first word after 200 ms · 1.0 s in all",
      "",
      "",
    ])
    assert.deepStrictEqual(screen(pieces.slice(0, 3)).at(-1), "  Let me▌")
    assert.deepStrictEqual(screen(pieces.slice(0, 1)).at(-1), "  ▌")
  })

  it("colours only decorate: without them the same text is left", () => {
    const events: ReadonlyArray<AnyEventMsg> = [
      ...turn.slice(0, -1),
      { type: "error", message: "no key" },
      { type: "turn_aborted", reason: "interrupted" },
    ]
    const colored = show({ ...plain, color: true }, events).join("")
    assert.include(colored, "\u001b[2mLet me think.\u001b[22m")
    // oxlint-disable-next-line no-control-regex -- the point of it
    assert.strictEqual(colored.replaceAll(/\u001b\[\d+m/g, ""), show(plain, events).join(""))
  })

  it("tools, warnings and failures are printed on one line each", () => {
    const duration = { secs: 1, nanos: 250_000_000 }
    const invocation = { server: "files", tool: "read", arguments: null }
    const events: ReadonlyArray<AnyEventMsg> = [
      { type: "exec_command_begin", call_id: "1", command: ["ls", "-l"], cwd: "/" },
      { type: "exec_command_end", call_id: "1", stdout: "", stderr: "", exit_code: 2, duration },
      { type: "mcp_tool_call_begin", call_id: "2", invocation },
      { type: "mcp_tool_call_end", call_id: "2", invocation, duration, result: { Err: "no" } },
      { type: "patch_apply_begin", call_id: "3", auto_approved: true, changes: {} },
      { type: "patch_apply_end", call_id: "3", stdout: "", stderr: "", success: true },
      { type: "plan_update", explanation: null, plan: [{ step: "write", status: "pending" }] },
      { type: "stream_error", message: "again in 200 ms" },
      { type: "error", message: "gone" },
      { type: "turn_aborted", reason: "interrupted" },
    ]
    assert.strictEqual(
      show(plain, events).join(""),
      [
        "› Hi",
        "",
        "  $ ls -l",
        "  exit 2 · 1.3 s",
        "  → files.read",
        "  failed · 1.3 s",
        "  ± 0 files",
        "  applied",
        "  pending: write",
        "  ! again in 200 ms",
        "  ✗ gone",
        "  — interrupted · 1.0 s in all",
        "",
        "",
      ].join("\n"),
    )
  })

  it("L7 shows the whole question, without control characters for the terminal", () => {
    const hostile = "\u001b[2J\u202e"
    const shown = show(plain, [
      {
        type: "exec_approval_request",
        call_id: "1",
        command: ["bash", "-lc", `a\n${hostile}`],
        cwd: "/work",
        reason: `If approved, it runs.\nThe model gives this reason: ${hostile}`,
      },
      {
        type: "elicitation_request",
        server_name: hostile,
        id: "e",
        message: `Tool server ${hostile} asks`,
        requested_schema: {},
      },
      { type: "agent_message", message: `one\n${hostile}` },
      { type: "background_event", message: hostile },
      { type: "plan_update", explanation: null, plan: [{ step: hostile, status: "pending" }] },
      { type: "error", message: hostile },
    ]).join("")
    assert.include(
      shown,
      [
        "  ? Allow Colloquy to run the command below in `/work`?",
        "    If approved, it runs.",
        "    The model gives this reason: \\x1b[2J\\u202e",
        "    The command:",
        "      | bash -lc $'a\\n",
        "      | \\x1b[2J\\u202e'",
        "  ? Tool server \\x1b[2J\\u202e asks",
        "",
      ].join("\n"),
    )
    assert.notMatch(shown, /(?!\n)[\p{Cc}\p{Cf}]/u)
  })

  it("a message that is streamed again after a broken stream is shown whole", () => {
    const pieces = show({ ...plain, live: true }, [
      { type: "agent_message_delta", delta: "Hel" },
      { type: "stream_error", message: "dropped" },
      { type: "agent_message", message: "Hello" },
      { type: "task_complete", last_agent_message: "Hello" },
    ])
    assert.deepStrictEqual(screen(pieces).slice(2, 5), ["  Hel", "  ! dropped", "  Hello"])
  })

  it.effect.prop(
    "wrapping gives the same text however it is cut, and no line is longer than its longest word",
    [Schema.Array(Schema.Literals(["a", "bcd", " ", "  ", "\n", "efghijkl"])), Schema.Int],
    ([tokens, seed]) =>
      Effect.sync(() => {
        const text = tokens.join("")
        const width = 10
        const [whole] = wrap(text, textStart, width, "  ")
        assert.strictEqual(
          whole.replaceAll("\n  ", "\n").replaceAll(/\s/g, ""),
          text.replaceAll(/\s/g, ""),
        )
        for (const line of whole.split("\n")) {
          const words = line.trim().split(/\s+/)
          assert.isTrue(line.trimEnd().length <= width + 2 || words.length === 1, line)
        }
        assert.notMatch(whole, /[^\S\n]\n/)
        // Cuts only between tokens that do not form one longer word together.
        const cut = Math.abs(seed) % (tokens.length + 1)
        const [left, right] = [tokens.slice(0, cut).join(""), tokens.slice(cut).join("")]
        if (!/\S$/.test(left) || !/^\S/.test(right)) {
          const [first, at] = wrap(left, textStart, width, "  ")
          assert.strictEqual(first + wrap(right, at, width, "  ")[0], whole)
        }
      }),
  )
})
