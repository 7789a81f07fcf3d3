/** What a client finds again after its server has gone, whatever way it went (L10). */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { buildIfMissing } from "./support/Bundle.ts"
import { home } from "./support/Home.ts"
import * as Server from "./support/Server.ts"

beforeAll(buildIfMissing)

const rolloutsIn = (directory: string): ReadonlyArray<string> =>
  readdirSync(join(directory, "sessions"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => join(directory, "sessions", name))

/** A conversation, made by a server that is left to the caller. */
const begun = Effect.fnUntraced(function* (directory: string) {
  const server = yield* Server.ready({ home: directory })
  server.call(1, "codex", { prompt: "say first" })
  const { result } = yield* server.answer(1)
  return { server, threadId: result?.structuredContent?.threadId ?? "" }
})

const reply = Effect.fnUntraced(function* (directory: string, threadId: string, prompt: string) {
  const server = yield* Server.ready({ home: directory })
  server.call(2, "codex-reply", { conversationId: threadId, prompt })
  const answer = yield* server.answer(2)
  return { server, answer }
})

describe("a conversation of a server that has gone", () => {
  for (const [how, leave] of [
    ["killed", (server: Server.Server) => server.child.kill("SIGKILL")],
    ["asked to leave", (server: Server.Server) => server.child.stdin.end()],
  ] as const) {
    it.live(`L10 goes on with codex-reply when it was ${how}`, () =>
      Effect.gen(function* () {
        const directory = yield* home()
        const { server, threadId } = yield* begun(directory)
        leave(server)
        yield* server.exit
        const { answer } = yield* reply(directory, threadId, "say second")
        assert.deepStrictEqual(
          [answer.result?.structuredContent?.threadId, Server.textOf(answer)],
          [threadId, "second"],
        )
        const [rollout = "", ...more] = rolloutsIn(directory)
        assert.deepStrictEqual(more, [])
        const said = readFileSync(rollout, "utf8")
          .split("\n")
          .flatMap((line) => {
            const { payload } = line === "" ? { payload: {} } : JSON.parse(line)
            return payload.type === "user_message" ? [payload.message] : []
          })
        assert.deepStrictEqual(said, ["say first", "say second"])
      }),
    )
  }

  it.live("L16 is refused to a second server while the first one has it, and it is told who", () =>
    Effect.gen(function* () {
      const directory = yield* home()
      const { server, threadId } = yield* begun(directory)
      const { answer, server: second } = yield* reply(directory, threadId, "say second")
      assert.isTrue(answer.result?.isError)
      assert.include(Server.textOf(answer), `in use by process ${server.pid} on `)
      server.child.kill("SIGKILL")
      yield* server.exit
      second.call(3, "codex-reply", { conversationId: threadId, prompt: "say third" })
      assert.strictEqual(Server.textOf(yield* second.answer(3)), "third")
    }),
  )

  it.live("L11 killed in the middle of a command, has its turn closed and takes the next", () =>
    Effect.gen(function* () {
      const directory = yield* home()
      const first = yield* Server.ready({ home: directory })
      first.call(1, "codex", {
        prompt: "run: sleep 30",
        "approval-policy": "never",
        sandbox: "danger-full-access",
      })
      const configured = yield* first.event("session_configured")
      const threadId = String(configured.params?.msg?.["session_id"])
      yield* first.event("exec_command_begin")
      first.child.kill("SIGKILL")
      yield* first.exit
      const { answer } = yield* reply(directory, threadId, "say now")
      assert.strictEqual(Server.textOf(answer), "now")
      const [rollout = ""] = rolloutsIn(directory)
      const types = readFileSync(rollout, "utf8")
        .split("\n")
        .flatMap((line) => {
          const { payload } = line === "" ? { payload: {} } : JSON.parse(line)
          const type = payload.msg?.type ?? payload.type
          return ["task_started", "turn_aborted", "task_complete"].includes(type) ? [type] : []
        })
      assert.deepStrictEqual(types, [
        "task_started",
        "turn_aborted",
        "task_started",
        "task_complete",
      ])
    }),
  )

  it.live("made by the original in September 2025 goes on, with what was said in it", () =>
    Effect.gen(function* () {
      const directory = yield* home()
      const id = "0199671c-5e2d-7a3b-8c4d-1234567890ab"
      const folder = join(directory, "sessions/2025/09/20")
      mkdirSync(folder, { recursive: true })
      const line = (type: string, payload: unknown) =>
        `${JSON.stringify({ timestamp: "2025-09-20T08:11:12.345Z", type, payload })}\n`
      const message = (role: string, type: string, text: string) =>
        line("response_item", { type: "message", role, content: [{ type, text }] })
      writeFileSync(
        join(folder, `rollout-2025-09-20T08-11-12-${id}.jsonl`),
        line("session_meta", {
          id,
          timestamp: "2025-09-20T08:11:12.345Z",
          cwd: directory,
          originator: "codex_cli_rs",
          cli_version: "0.39.0",
          instructions: null,
        }) +
          message("user", "input_text", "hi") +
          line("event_msg", { type: "user_message", message: "hi", kind: "plain" }) +
          line("turn_context", {
            cwd: directory,
            approval_policy: "never",
            sandbox_policy: { mode: "danger-full-access" },
            model: "gpt-5",
            summary: "auto",
          }) +
          message("assistant", "output_text", "hello"),
      )
      const { answer } = yield* reply(directory, id, "say on")
      assert.deepStrictEqual(
        [answer.result?.structuredContent?.threadId, Server.textOf(answer)],
        [id, "on"],
      )
      assert.strictEqual(rolloutsIn(directory).length, 1)
    }),
  )
})
