import type { LogRecord } from "@colloquy/core/LogRecord"
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import { LineDecoder } from "../../src/rollout/LineDecoder.ts"
import { parseHeader } from "../../src/rollout/RolloutHeader.ts"
import { encodeLines, headerLines, markLine, ownLineTypes } from "../../src/rollout/LineEncoder.ts"
import { typesOf } from "../support/OriginalRollouts.ts"
import {
  sessionConfigured,
  events,
  message,
  metaOf,
  firstRecords,
  userMessage,
  startMs,
  turn,
} from "../support/Records.ts"

const begin = { seq: 0, id: "", unnumbered: 0 }

const fileOf = (records: ReadonlyArray<LogRecord>, meta = metaOf(1)) =>
  headerLines(meta) + encodeLines(begin, records).text

/** Every record of a file, and the numbers of its lines that cannot be read. */
const read = (file: string) => {
  const lines = file.slice(0, -1).split("\n")
  const header = parseHeader(lines.slice(0, 10))
  if (header === undefined) throw new Error("no rollout")
  const decoder = new LineDecoder(header.lineFormat, header.numbering, header.meta.createdAtMs)
  const records = [...header.records]
  const bad: Array<number> = []
  let end = 0
  lines.forEach((line, i) => {
    end += line.length + 1
    if (i === 0 && header.lineFormat === "august") return
    const decoded = decoder.decode(line, end)
    records.push(...decoded.records)
    if (decoded.bad) bad.push(i)
  })
  return { ...header, records, bad, end: decoder.state.numbering }
}

const whole = [...firstRecords(metaOf(1)), ...turn(1, "0", "hello"), ...turn(11, "1", "again")]

const messages = (records: ReadonlyArray<LogRecord>): ReadonlyArray<EventMsg> =>
  records.flatMap((record) => (record._tag === "Event" ? [record.event.msg] : []))

describe("lines of a rollout", () => {
  it("decode to the records and metadata that were encoded", () => {
    const meta = metaOf(1, {
      instructions: "be kind",
      source: "mcp",
      git: { branch: "main", commitHash: "abc" },
      forkedFrom: "another",
    })
    assert.deepStrictEqual(read(fileOf(whole, meta)), {
      meta,
      lineFormat: "colloquy",
      formatVersion: 1,
      records: whole,
      numbering: { seq: 0, id: "" },
      bad: [],
      end: { seq: 21, id: "1" },
    })
  })

  it("have the documented shape or a type of this program", () => {
    const types = typesOf(fileOf(whole, metaOf(1, { source: "mcp", git: {}, instructions: "x" })))
    assert.deepStrictEqual(types.slice(0, 10), [
      "session_meta",
      ownLineTypes.meta,
      ownLineTypes.event,
      "turn_context",
      "colloquy_settings",
      "colloquy_submission",
      ownLineTypes.event,
      "response_item",
      "event_msg",
      "response_item",
    ])
    assert.isTrue(types.includes("colloquy_tool_call"))
  })

  it("of events that the original persists have the original's types", () => {
    const usage = {
      input_tokens: 1,
      cached_input_tokens: 0,
      output_tokens: 1,
      reasoning_output_tokens: 0,
      total_tokens: 2,
    }
    const records = events(
      0,
      [
        { type: "agent_message", message: "a" },
        { type: "agent_reasoning", text: "r" },
        { type: "agent_reasoning_raw_content", text: "raw" },
        {
          type: "token_count",
          info: { total_token_usage: usage, last_token_usage: usage, model_context_window: null },
        },
        { type: "entered_review_mode", prompt: "p", user_facing_hint: "h" },
        { type: "exited_review_mode", review_output: null },
        { type: "turn_aborted", reason: "interrupted" },
      ],
      "",
    )
    const text = encodeLines(begin, records).text
    assert.deepStrictEqual(typesOf(text), Array(7).fill("event_msg"))
    assert.deepStrictEqual(read(headerLines(metaOf(1)) + text).records, records)
  })

  it("of a summary have the original's type, preceded by a mark with what that type has no room for", () => {
    const records = events(
      0,
      [
        { type: "compacted", message: "all of it" },
        { type: "compacted", message: "most of it", keeps_input: true },
        { type: "compacted", message: "all again" },
      ],
      "",
    )
    const text = encodeLines(begin, records).text
    assert.deepStrictEqual(typesOf(text), [
      "compacted",
      ownLineTypes.mark,
      "compacted",
      "compacted",
    ])
    assert.deepStrictEqual(read(headerLines(metaOf(1)) + text).records, records)
  })

  it("leave out policies that the original does not know", () => {
    const text = encodeLines(begin, [
      {
        _tag: "Settings",
        atMs: startMs,
        settings: {
          model: "m",
          provider: "p",
          cwd: "/w",
          approvalPolicy: "never",
          sandboxPolicy: { mode: "external-sandbox" },
          summary: "auto",
        },
      },
    ]).text
    assert.deepStrictEqual(typesOf(text), ["colloquy_settings"])
  })

  it("store a long output that an event repeats once", () => {
    const output = "long output ".repeat(1000)
    const records = turn(0, "0", "hi", output)
    const text = encodeLines(begin, records).text
    assert.strictEqual(text.split(output).length - 1, 2, "the event once, the model's item once")
    assert.deepStrictEqual(read(headerLines(metaOf(1)) + text).records, records)
  })

  it("have a number at least every 64 lines", () => {
    const many = events(
      0,
      Array.from({ length: 300 }, (_, i) => message("assistant", String(i))),
      "",
    )
    const types = typesOf(encodeLines(begin, many).text)
    assert.deepStrictEqual(
      types.flatMap((type, i) => (type === ownLineTypes.mark ? [i] : [])),
      [64, 129, 194, 259],
    )
    assert.deepStrictEqual(read(fileOf(many)).records, many)
  })

  it("preserve texts of every kind: newlines, line separators, lone surrogates, NUL", () => {
    const text = 'a\n\r\u2028\u0000\ud800"\\ü🙂'
    const records = events(0, [message("user", text), userMessage(text)])
    assert.deepStrictEqual(read(fileOf(records)).records, records)
  })

  it("L11 a bad inner line is left out and reported, and a warning takes its event's number", () => {
    const lines = fileOf(whole).slice(0, -1).split("\n")
    for (let bad = 5; bad < lines.length; bad++) {
      const found = read(`${lines.with(bad, '{"half":').join("\n")}\n`)
      assert.deepStrictEqual(found.bad, [bad])
      const seqs = found.records.flatMap((r) => (r._tag === "Event" ? [r.event.seq] : []))
      assert.deepStrictEqual(
        seqs,
        seqs.map((_, i) => i),
      )
      // No later number shows that the last event is lost.
      assert.strictEqual(found.end.seq, bad === lines.length - 1 ? 20 : 21, lines[bad])
    }
  })

  it("with a number that goes back or far ahead are bad", () => {
    const file = fileOf(whole)
    for (const seq of [0, 3, 1e9, -1, 1.5]) {
      const found = read(file + markLine(startMs, { seq, id: "9" }))
      assert.strictEqual(found.bad.length, 1)
      assert.deepStrictEqual(found.records, whole)
    }
  })

  it("of a later version are skipped without a report; those of a known type with the wrong shape are bad", () => {
    const file = fileOf(whole)
    const line = (type: string, payload: unknown) =>
      `${JSON.stringify({ timestamp: "2025-09-20T08:11:12.345Z", type, payload })}\n`
    const later =
      line("colloquy_future", {}) +
      line("event_msg", { type: "item_completed" }) +
      line("response_item", { type: "ghost_snapshot" })
    assert.deepStrictEqual(read(file + later).bad, [])
    for (const wrong of [
      line("colloquy_tool_call", {}),
      line("event_msg", { type: "agent_message" }),
      line("response_item", { type: "message" }),
      line("colloquy_event", { seq: 21, id: "1", msg: { type: "agent_message_delta" } }),
      "[]\n",
      "\u0000\u0000\n",
      '{"type":"response_item"}\n',
    ]) {
      assert.strictEqual(read(file + wrong).bad.length, 1, wrong)
    }
  })
})

const september = `{"timestamp":"2025-09-20T08:11:12.345Z","type":"session_meta","payload":{"id":"0199671c-5e2d-7a3b-8c4d-1234567890ab","timestamp":"2025-09-20T08:11:12.345Z","cwd":"/w","originator":"codex_cli_rs","cli_version":"0.39.0","instructions":null,"git":{"commit_hash":"abc","branch":"main"}}}
{"timestamp":"2025-09-20T08:11:13.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\\n  <cwd>/w</cwd>\\n</environment_context>"}]}}
{"timestamp":"2025-09-20T08:11:13.001Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}}
{"timestamp":"2025-09-20T08:11:13.002Z","type":"event_msg","payload":{"type":"user_message","message":"hi","kind":"plain"}}
{"timestamp":"2025-09-20T08:11:13.003Z","type":"turn_context","payload":{"cwd":"/w","approval_policy":"never","sandbox_policy":{"mode":"danger-full-access"},"model":"gpt-5","summary":"auto"}}
{"timestamp":"2025-09-20T08:11:13.004Z","type":"event_msg","payload":{"type":"token_count","info":null,"rate_limits":{"primary":null,"secondary":null}}}
{"timestamp":"2025-09-20T08:11:13.005Z","type":"response_item","payload":{"type":"reasoning","summary":[],"content":null,"encrypted_content":null}}
{"timestamp":"2025-09-20T08:11:13.006Z","type":"event_msg","payload":{"type":"agent_message","message":"A1"}}
{"timestamp":"2025-09-20T08:11:13.007Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"A1"}]}}
{"timestamp":"2025-09-20T08:11:13.008Z","type":"compacted","payload":{"message":"summary text"}}
`

const august = `{"id":"7c9e6679-7425-40de-944b-e07fc1f90ae7","timestamp":"2025-08-20T08:11:12.345Z","instructions":"be brief","git":{"branch":"main"}}
{"type":"message","id":null,"role":"user","content":[{"type":"input_text","text":"<environment_context>\\n  <cwd>/home/me/p</cwd>\\n</environment_context>"}]}
{"record_type":"state"}
{"type":"message","id":null,"role":"user","content":[{"type":"input_text","text":"hello"}]}
{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"thinking"}],"encrypted_content":null}
{"type":"local_shell_call","id":"l1","call_id":"c1","status":"completed","action":{"type":"exec","command":["ls"],"timeout_ms":null}}
{"type":"function_call_output","call_id":"c1","output":{"content":"out","success":true}}
{"type":"message","id":"m1","role":"assistant","content":[{"type":"output_text","text":"done"}]}
`

describe("files of the original", () => {
  it("of September 2025 and later load: events are numbered in order, after session_configured", () => {
    const found = read(september)
    assert.deepStrictEqual(found.bad, [])
    assert.deepStrictEqual(found.meta, {
      id: found.meta.id,
      createdAtMs: startMs,
      cwd: "/w",
      originator: "codex_cli_rs",
      version: "0.39.0",
      model: "gpt-5",
      git: { commitHash: "abc", branch: "main" },
    })
    assert.deepStrictEqual(
      found.records.map((r) => (r._tag === "Event" ? [r.event.seq, r.event.id] : [])),
      [0, 1, 2, 3, 4, 5, 6, 7, 8].map((seq) => [seq, ""]),
    )
    assert.deepStrictEqual(
      messages(found.records).map(({ type }) => type),
      [
        "session_configured",
        "raw_response_item",
        "raw_response_item",
        "user_message",
        "token_count",
        "raw_response_item",
        "agent_message",
        "raw_response_item",
        "compacted",
      ],
    )
  })

  it("of August 2025 load: events are derived from the items, the directory from the environment message", () => {
    const found = read(august)
    assert.deepStrictEqual(found.bad, [])
    assert.deepStrictEqual(found.meta, {
      id: found.meta.id,
      createdAtMs: found.meta.createdAtMs,
      cwd: "/home/me/p",
      originator: "codex_cli_rs",
      version: "",
      instructions: "be brief",
      git: { branch: "main" },
    })
    assert.deepStrictEqual(messages(found.records).slice(1), [
      message("user", "<environment_context>\n  <cwd>/home/me/p</cwd>\n</environment_context>"),
      message("user", "hello"),
      userMessage("hello"),
      {
        type: "raw_response_item",
        item: {
          type: "reasoning",
          summary: [{ type: "summary_text", text: "thinking" }],
          encrypted_content: null,
        },
      },
      { type: "agent_reasoning", text: "thinking" },
      {
        type: "raw_response_item",
        item: {
          type: "local_shell_call",
          call_id: "c1",
          status: "completed",
          action: { type: "exec", command: ["ls"], timeout_ms: null },
        },
      },
      {
        type: "raw_response_item",
        item: { type: "function_call_output", call_id: "c1", output: "out" },
      },
      message("assistant", "done"),
      { type: "agent_message", message: "done" },
    ])
  })

  for (const [name, file] of [
    ["September", september],
    ["August", august],
  ] as const) {
    it(`of ${name} are continued with lines of this program, with consecutive numbers`, () => {
      const before = read(file)
      const more = turn(before.end.seq, "0", "on")
      const text = encodeLines({ ...before.end, unnumbered: 0 }, more).text
      const after = read(file + text)
      assert.deepStrictEqual(after.bad, [])
      assert.deepStrictEqual(after.records, [...before.records, ...more])
    })
  }

  it("that do not start like a rollout are not rollouts", () => {
    for (const line of [
      "",
      "not json",
      "{}",
      "[]",
      '{"id":"x","timestamp":"2025-08-20T08:11:12.345Z"}',
      '{"timestamp":"t","type":"response_item","payload":{}}',
    ]) {
      assert.strictEqual(parseHeader([line]), undefined)
    }
    assert.isDefined(parseHeader([headerLines(metaOf(1)).split("\n")[0] ?? ""]))
    assert.strictEqual(sessionConfigured(metaOf(1)).type, "session_configured")
  })
})
