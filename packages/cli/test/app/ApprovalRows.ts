/**
 * Rows for the server's requests: the methods of `app/Approvals.ts`, and the notification that withdraws a question or
 * cancels a request.
 */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { App, ServerMethod } from "./App.ts"
import { ending, events, invalid, listening, made, patch, refuses, row, say, shell } from "./Row.ts"

/** Resolves with the server's request for this method once it has arrived. */
const question = (app: App, method: ServerMethod) =>
  app.until((message) => message.method === method && message.id !== undefined)

const resolution = (app: App) =>
  events(app).flatMap(([, msg]) => {
    const { decision, reason, type } = msg as Readonly<Record<string, unknown>>
    return type === "approval_resolved" ? [{ decision, reason }] : []
  })

const execCommandApproval = row(
  "asks the client about a command, and an invalid answer is a denial",
  { script: [[shell("touch made")], [shell("touch made")]] },
  (app) =>
    Effect.gen(function* () {
      const { conversationId } = yield* made(app, { approvalPolicy: "untrusted" })
      yield* listening(app, conversationId, { after: -1 })
      yield* say(app, conversationId, "go")
      const asked = yield* question(app, "execCommandApproval")
      assert.deepStrictEqual(asked, {
        id: asked.id,
        method: "execCommandApproval",
        params: {
          conversationId,
          callId: "call",
          command: ["bash", "-lc", "touch made"],
          cwd: app.work,
          reason: [
            "If approved, it runs without a sandbox, like every command of this conversation: it can read and change every file that the user of this server can, and use the network.",
            "Approved for the session, exactly this command in this directory runs so again without a question: in this conversation and its forks, also after a restart.",
          ].join("\n"),
          parsedCmd: [{ type: "unknown", cmd: "touch made" }],
        },
      })
      yield* app.reply(asked, { result: { decision: "yes" } })
      const again = yield* app.until(
        ({ id, method }) => method === "execCommandApproval" && id !== asked.id,
      )
      assert.isFalse(existsSync(join(app.work, "made")))
      yield* app.reply(again, { result: { decision: "approved" } })
      yield* ending(app, "0")
      assert.isTrue(existsSync(join(app.work, "made")))
      assert.deepStrictEqual(resolution(app), [
        { decision: "denied", reason: "malformed" },
        { decision: "approved", reason: "answered" },
      ])
    }),
)

const applyPatchApproval = row(
  "asks the client about a patch, and an error is a denial",
  { script: [[patch], [patch]] },
  (app) =>
    Effect.gen(function* () {
      const { conversationId } = yield* made(app, { approvalPolicy: "untrusted" })
      yield* listening(app, conversationId, { after: -1 })
      yield* say(app, conversationId, "go")
      const asked = yield* question(app, "applyPatchApproval")
      const path = join(app.work, "made.txt")
      assert.deepStrictEqual(asked, {
        id: asked.id,
        method: "applyPatchApproval",
        params: {
          conversationId,
          callId: "patch",
          fileChanges: { [path]: { add: { content: "made\n" } } },
          reason: [
            "If approved, these files are changed, without a sandbox like everything in this conversation, and no other file is.",
            "Approved for the session, it allows this patch and no other: the next one is asked about again.",
            "Files (1 add):",
            `  add "${path}"`,
          ].join("\n"),
        },
      })
      yield* app.reply(asked, { error: { code: -1, message: "no" } })
      const again = yield* app.until(
        ({ id, method }) => method === "applyPatchApproval" && id !== asked.id,
      )
      assert.isFalse(existsSync(path))
      yield* app.reply(again, { result: { decision: "approved" } })
      yield* ending(app, "0")
      assert.strictEqual(readFileSync(path, "utf8"), "made\n")
      assert.deepStrictEqual(resolution(app), [
        { decision: "denied", reason: "failed" },
        { decision: "approved", reason: "answered" },
      ])
    }),
)

const toolServer = fileURLToPath(
  new URL("../../../tools/test/mcp/fixtures/server.mjs", import.meta.url),
)

const elicitationRequest = row(
  "sends the form of a tool server to a client that shows it, and returns what is filled in",
  {
    config: `[mcp_servers.fixture]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(toolServer)}]\n`,
    script: [[{ tool_call: { name: "fixture__ask", arguments: {} } }]],
    initialized: false,
  },
  (app) =>
    Effect.gen(function* () {
      yield* app.ask("initialize", {
        clientInfo: { name: "rows", version: "1" },
        capabilities: { elicitation: true },
      })
      const { conversationId } = yield* made(app)
      yield* listening(app, conversationId, { after: -1 })
      const { turnId } = yield* say(app, conversationId, "go")
      const asked = yield* question(app, "elicitationRequest")
      assert.deepStrictEqual(asked, {
        id: asked.id,
        method: "elicitationRequest",
        params: {
          conversationId,
          elicitationId: asked.params?.["elicitationId"],
          serverName: "fixture",
          message:
            'Tool server `fixture` asks: "How old?"\nThe tool server also wrote what the form says, in quotation marks.',
          requestedSchema: { type: "object", properties: { age: { type: "integer" } } },
        },
      })
      const answer = { action: "accept", content: { age: 7 } }
      yield* app.reply(asked, { result: answer })
      yield* ending(app, turnId)
      assert.deepStrictEqual(resolution(app), [{ decision: "approved", reason: "answered" }])
      const end = yield* app.received("codex/event/mcp_tool_call_end")
      assert.include(JSON.stringify(end), JSON.stringify(JSON.stringify(answer)).slice(1, -1))
    }),
)

const cancelRequest = row(
  "withdraws the question of a turn that is interrupted",
  { script: [[patch]] },
  (app) =>
    Effect.gen(function* () {
      const { conversationId } = yield* made(app, { approvalPolicy: "untrusted" })
      yield* listening(app, conversationId)
      yield* say(app, conversationId, "go")
      const { id } = yield* question(app, "applyPatchApproval")
      yield* app.ask("interruptConversation", { conversationId })
      assert.deepStrictEqual(yield* app.received("$/cancelRequest"), { id })
    }),
)

const withdrawn = row(
  "cancels a request, which gets that error, and no other",
  { config: 'sandbox_mode = "danger-full-access"\n' },
  (app) =>
    Effect.gen(function* () {
      const slow = yield* Effect.forkChild(
        app.refused("execOneOffCommand", { command: ["sleep", "1000"], timeoutMs: 100_000 }),
        { startImmediately: true },
      )
      const [id] = [...app.sent.keys()].slice(-1)
      yield* app.notify("$/cancelRequest", { id: "of nobody" })
      yield* app.notify("$/cancelRequest", { id })
      assert.deepStrictEqual(yield* Fiber.join(slow), {
        code: -32800,
        message: "request cancelled",
      })
      yield* app.notify("$/cancelRequest", { id })
      yield* app.notify("$/cancelRequest", {})
      yield* refuses(
        app,
        "$/cancelRequest",
        { id },
        invalid("Invalid request: `$/cancelRequest` is a notification, expected no `id`"),
      )
      assert.deepStrictEqual(
        app.messages.map((message) => message.id),
        [...app.sent.keys()],
      )
    }),
)

/** The row for `$/cancelRequest`, sent by the client. */
export const cancellationRows = { "$/cancelRequest": withdrawn } as const

export const approvalRows = {
  execCommandApproval,
  applyPatchApproval,
  elicitationRequest,
  "$/cancelRequest": cancelRequest,
} as const
