/** Tests that a client finds its conversations again after its server has exited, however it exited (L10). */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { typesOf } from "../../store/test/support/OriginalRollouts.ts"
import { judge } from "./crash/Rollout.ts"
import { buildIfMissing } from "./support/BuiltProgram.ts"
import { home } from "./support/Home.ts"
import * as Server from "./support/Server.ts"

beforeAll(buildIfMissing)

const rolloutsIn = (directory: string): ReadonlyArray<string> =>
  readdirSync(join(directory, "sessions"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => join(directory, "sessions", name))

/** Creates a conversation. Its server keeps running, and the caller ends it. */
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

describe("a conversation whose server process has ended", () => {
  for (const [how, leave] of [
    ["killed", (server: Server.Server) => server.child.kill("SIGKILL")],
    ["asked to leave", (server: Server.Server) => server.child.stdin.end()],
  ] as const) {
    it.live(`L10 continues with codex-reply when it was ${how}`, () =>
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

  it.live(
    "L16 is refused to a second server while the first one holds its lease, and the error names the holder",
    () =>
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

  it.live(
    "L11 has its turn closed and accepts the next one after a kill in the middle of a command",
    () =>
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

  it.live("L7 asks again after a kill while it asked, and the answer resumes its turn", () =>
    Effect.gen(function* () {
      const directory = yield* home()
      const asking = Effect.fnUntraced(function* () {
        const server = yield* Server.start({ home: directory })
        const { params } = Server.initialize
        const capabilities = { elicitation: {} }
        server.send({ ...Server.initialize, params: { ...params, capabilities } })
        yield* server.answer("initialize")
        return server
      })
      const isQuestion = ({ method }: Server.Frame) => method === "elicitation/create"
      const subject = ({ params }: Server.Frame) => {
        const { codex_call_id, codex_command, codex_event_id } = {
          codex_call_id: undefined,
          codex_command: undefined,
          codex_event_id: undefined,
          ...params,
        }
        return { codex_call_id, codex_command, codex_event_id }
      }
      const first = yield* asking()
      first.call(1, "codex", {
        prompt: "run: echo ran >> ran",
        cwd: directory,
        "approval-policy": "untrusted",
        sandbox: "danger-full-access",
      })
      const question = yield* first.until(isQuestion)
      const { params } = yield* first.event("session_configured")
      first.child.kill("SIGKILL")
      yield* first.exit
      const second = yield* asking()
      const threadId = String(params?.msg?.["session_id"])
      second.call(2, "codex-reply", { threadId, prompt: "say on" })
      const again = yield* second.until(isQuestion)
      assert.deepStrictEqual(subject(again), subject(question))
      assert.isDefined(subject(again).codex_call_id)
      second.send({ id: again.id, result: { action: "accept" } })
      assert.strictEqual(Server.textOf(yield* second.answer(2)), "on")
      assert.strictEqual(readFileSync(join(directory, "ran"), "utf8"), "ran\n")
      const [rollout = ""] = rolloutsIn(directory)
      assert.deepStrictEqual(judge(rollout).faults, [])
    }),
  )

  it.live(
    "continues when it was made by the original in August 2025, and nothing in its file changes",
    () =>
      Effect.gen(function* () {
        const directory = yield* home()
        const id = "3f6c1f0a-9d0b-4c53-8a35-1f2e3d4c5b6a"
        const folder = join(directory, "sessions/2025/08/12")
        mkdirSync(folder, { recursive: true })
        const path = join(folder, `rollout-2025-08-12T08-11-12-${id}.jsonl`)
        const before = [
          { id, timestamp: "2025-08-12T08:11:12.345Z", instructions: null },
          { record_type: "state" },
          { type: "message", role: "user", content: [{ type: "input_text", text: "list them" }] },
          {
            type: "function_call",
            name: "shell",
            arguments: JSON.stringify({ command: ["ls"] }),
            call_id: "call_1",
          },
          { type: "function_call_output", call_id: "call_1", output: "a b" },
          {
            type: "message",
            role: "assistant",
            content: [{ type: "output_text", text: "a and b" }],
          },
        ]
          .map((line) => `${JSON.stringify(line)}\n`)
          .join("")
        writeFileSync(path, before)
        const { answer, server } = yield* reply(directory, id, "say on")
        assert.deepStrictEqual(
          [answer.result?.structuredContent?.threadId, Server.textOf(answer)],
          [id, "on"],
        )
        server.child.stdin.end()
        yield* server.exit
        const after = readFileSync(path, "utf8")
        assert.strictEqual(after.slice(0, before.length), before)
        assert.include(typesOf(after.slice(before.length)), "response_item")
        // Once more, so that the lines that Colloquy has appended are read, too.
        const { answer: next } = yield* reply(directory, id, "say more")
        assert.strictEqual(Server.textOf(next), "more")
        assert.strictEqual(rolloutsIn(directory).length, 1)
      }),
  )

  it.live("continues with its history when it was made by the original in September 2025", () =>
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
      const [rollout = "", ...more] = rolloutsIn(directory)
      assert.deepStrictEqual(more, [])
      assert.deepStrictEqual(typesOf(readFileSync(rollout, "utf8")).slice(0, 5), [
        "session_meta",
        "response_item",
        "event_msg",
        "turn_context",
        "response_item",
      ])
    }),
  )
})
