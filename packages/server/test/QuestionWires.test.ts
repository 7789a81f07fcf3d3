/** The same hostile texts through every dialect that puts questions to a person. */
import type { ApprovalRequest, Elicitation } from "@colloquy/core/approvals/Approval"
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { created, listening, say, withApp } from "./support/AppHarness.ts"
import { asking, initialize, oneCall } from "./support/Asking.ts"
import { type Harness, toolCall, withServer } from "./support/Harness.ts"
import { saying } from "./support/Stateless.ts"

const hostile =
  "\u001b[2J\u202e\u200b\u009b\u2028\nAllow Codex to run `ls` in `/`?\n\ufe0f\u{e0041}"

const exec: ApprovalRequest = {
  _tag: "Exec",
  callId: "c",
  command: ["touch", "made.txt"],
  cwd: "/workspace",
  sandbox: { mode: "danger-full-access" },
  reason: hostile,
}

const patch: ApprovalRequest = {
  _tag: "Patch",
  callId: "c",
  changes: { "/workspace/a": { add: { content: "" } } },
  reason: hostile,
}

const refund: ApprovalRequest = {
  _tag: "Tool",
  callId: "c",
  tool: "refund",
  arguments: { cents: 1200 },
  reason: hostile,
}

const form: Elicitation = {
  server: `files${hostile}`,
  message: hostile,
  requestedSchema: {
    type: "object",
    properties: { name: { type: "string", title: hostile, description: hostile } },
  },
}

const asks = {
  "a command": asking([exec]).tools,
  "a patch": asking([patch]).tools,
  "a tool of the application": asking([refund]).tools,
  "a form": ToolRuntime.simple({
    specs: () => [],
    run: (_, { elicit }) => Effect.as(elicit(form), "asked"),
  }),
}

type Asks = (typeof asks)[keyof typeof asks]

/** Members that programs read and that are not displayed. */
const forPrograms = new Set(["server_name", "serverName"])

const stringsOf = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string") return [value]
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([key, part]) =>
    forPrograms.has(key) ? [] : stringsOf(part),
  )
}

// oxlint-disable-next-line no-control-regex -- control characters are what is searched for
const dangerous = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u

/** The messages of a server that put or mention the question; fails the test when there are none. */
const ofQuestion = (texts: ReadonlyArray<string>, marks: ReadonlyArray<string>) => {
  const found = texts.filter((text) => marks.some((mark) => text.includes(mark)))
  assert.isAbove(found.length, 0, texts.join("\n"))
  return found.map((text): unknown => JSON.parse(text))
}

const marks = [
  "elicitation/create",
  "_approval_request",
  "elicitation_request",
  "execCommandApproval",
  "applyPatchApproval",
  "elicitationRequest",
]

const isLegible = (texts: ReadonlyArray<string>) => {
  const shown = ofQuestion(texts, marks).flatMap(stringsOf)
  assert.isTrue(shown.some((text) => text.includes("\\x1b[2J\\u202e\\u200b\\u009b\\u2028\\n")))
  for (const text of shown) {
    assert.notMatch(text, dangerous)
    for (const line of text.split("\n")) assert.notMatch(line, /^Allow Codex to run `ls`/)
  }
}

const codex = { prompt: "ask" }

const wires: Readonly<Record<string, (tools: Asks) => Effect.Effect<Harness>>> = {
  "MCP with a handshake": (tools) =>
    withServer({ script: oneCall, tools }, (server) =>
      Effect.gen(function* () {
        yield* server.send(initialize({ elicitation: {} }))
        yield* server.send(toolCall(2, "codex", codex))
        yield* server.quiet
        return server
      }),
    ),
  "MCP without a handshake": (tools) =>
    withServer({ script: oneCall, tools }, (server) =>
      Effect.gen(function* () {
        yield* server.ask(
          1,
          "tools/call",
          saying({ name: "codex", arguments: codex }, { elicitation: {} }),
        )
        return server
      }),
    ),
  "a task": (tools) =>
    withServer({ script: oneCall, tools }, (server) =>
      Effect.gen(function* () {
        yield* server.send(initialize({ elicitation: {} }))
        const { result } = yield* server.ask(2, "tools/call", {
          name: "codex",
          arguments: codex,
          task: {},
        })
        const task = result?.["task"] as { readonly taskId: string }
        yield* server.send({
          jsonrpc: "2.0",
          id: 3,
          method: "tasks/result",
          params: { taskId: task.taskId },
        })
        yield* server.quiet
        return server
      }),
    ),
  "the app-server": (tools) =>
    withApp({ script: oneCall, tools, capabilities: { elicitation: true } }, (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app)
        yield* listening(app, conversationId, { after: -1 })
        yield* say(app, conversationId, "hi")
        yield* app.quiet
        return app
      }),
    ),
}

describe("questions in every dialect", () => {
  it.effect.each(
    Object.keys(wires).flatMap((wire) => Object.keys(asks).map((what) => [wire, what] as const)),
  )("L7 no foreign text reaches a person raw: %s asks about %s", ([wire, what]) =>
    Effect.gen(function* () {
      const server = yield* wires[wire]?.(asks[what as keyof typeof asks]) ?? Effect.die(wire)
      isLegible(server.texts)
    }),
  )
})
