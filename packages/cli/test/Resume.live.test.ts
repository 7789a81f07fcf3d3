/** Tests `experimental_resume`: a new conversation begins with the history of a stored one, as in the original 0.29. */
import * as MockProvider from "@colloquy/testing/MockProvider"
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { provided } from "./support/Home.ts"
import * as Server from "./support/Server.ts"

const idOf = (frame: Server.Frame) =>
  String(
    (frame.result?.["structuredContent"] as { readonly threadId?: string } | undefined)?.threadId,
  )

/** Texts of the messages in a request to the provider, without the context that the server adds. */
const textsOf = (body: unknown): ReadonlyArray<string> =>
  (body as { readonly input: ReadonlyArray<{ readonly content?: unknown }> }).input.flatMap(
    ({ content }) =>
      (Array.isArray(content) ? content : [content]).flatMap((part: { readonly text: string }) =>
        part.text.startsWith("<") ? [] : [part.text],
      ),
  )

const environmentsOf = (body: unknown): ReadonlyArray<string> =>
  JSON.stringify(body).match(/<cwd>[^<]*<\/cwd>/g) ?? []

/** A home with one stored conversation of one turn, and the path of its file. */
const stored = Effect.gen(function* () {
  const mock = yield* MockProvider.make(({ index }) => Script.reply(Script.text(`answer ${index}`)))
  const home = yield* provided(mock.baseUrl, "responses")
  const path = yield* Effect.scoped(
    Effect.gen(function* () {
      const server = yield* Server.ready({ home })
      server.call(1, "codex", { prompt: "first question", cwd: "/" })
      yield* server.answer(1)
      const configured = yield* server.event("session_configured")
      server.child.stdin.end()
      yield* server.exit
      return String(configured.params?.msg?.["rollout_path"])
    }),
  )
  return { mock, home, path, bytes: readFileSync(path, "utf8") }
})

const lastBody = (mock: MockProvider.MockProvider) =>
  Effect.map(mock.requests, (requests) => requests.at(-1)?.body)

const startWith = (
  home: string,
  config: string,
): Effect.Effect<Server.Server, never, Scope.Scope> =>
  Effect.suspend(() => {
    const path = join(home, "config.toml")
    writeFileSync(path, `${config}\n${readFileSync(path, "utf8")}`)
    return Server.ready({ home })
  })

describe("experimental_resume", () => {
  it.live(
    "`config` of `codex` creates a conversation with that history and leaves its file unchanged",
    () =>
      Effect.gen(function* () {
        const { bytes, home, mock, path } = yield* stored
        const server = yield* Server.ready({ home })
        // The id of the call that created the first conversation, which is also the id of its turn in the history.
        const config = { experimental_resume: path }
        server.call(1, "codex", { prompt: "second question", cwd: "/tmp", config })
        const first = yield* server.answer(1)
        assert.strictEqual(Server.textOf(first), "answer 1")
        assert.deepStrictEqual(textsOf(yield* lastBody(mock)), [
          "first question",
          "answer 0",
          "second question",
        ])
        assert.deepStrictEqual(environmentsOf(yield* lastBody(mock)), [
          "<cwd>/</cwd>",
          "<cwd>/tmp</cwd>",
        ])
        const id = idOf(first)
        assert.notInclude(path, id)
        const configured = yield* server.event("session_configured", 1)
        assert.strictEqual(configured.params?.msg?.["session_id"], id)
        const types = server.eventTypes(1)
        assert.strictEqual(types.filter((type) => type === "task_started").length, 1)
        assert.strictEqual(types.at(-1), "task_complete")
        server.call(2, "codex-reply", { threadId: id, prompt: "third question" })
        assert.strictEqual(Server.textOf(yield* server.answer(2)), "answer 2")
        assert.deepStrictEqual(textsOf(yield* lastBody(mock)).slice(-2), [
          "answer 1",
          "third question",
        ])
        assert.strictEqual(readFileSync(path, "utf8"), bytes)
      }).pipe(Effect.scoped),
  )

  it.live("in `config.toml` it applies to every new conversation, also of the app-server", () =>
    Effect.gen(function* () {
      const { home, mock, path } = yield* stored
      const server = yield* startWith(home, `experimental_resume = ${JSON.stringify(path)}`)
      server.send({ id: 1, method: "newConversation", params: {} })
      const { conversationId } = (yield* server.answer(1)).result as Record<string, unknown>
      server.send({ id: 2, method: "addConversationListener", params: { conversationId } })
      yield* server.answer(2)
      const items = [{ type: "text", data: { text: "second question" } }]
      server.send({ id: 3, method: "sendUserMessage", params: { conversationId, items } })
      yield* server.until(({ method }) => method === "codex/event/task_complete")
      assert.deepStrictEqual(textsOf(yield* lastBody(mock)), [
        "first question",
        "answer 0",
        "second question",
      ])
      const started = server.frames.filter(({ method }) => method === "codex/event/task_started")
      assert.strictEqual(started.length, 1)
      server.call(4, "conversationCreate", {})
      const made = (yield* server.answer(4)).result?.["structuredContent"] as Record<
        string,
        unknown
      >
      server.call(5, "codex-reply", {
        threadId: made["conversation_id"],
        prompt: "other question",
      })
      yield* server.answer(5)
      assert.deepStrictEqual(textsOf(yield* lastBody(mock)), [
        "first question",
        "answer 0",
        "other question",
      ])
      server.call(6, "codex", { prompt: "fresh", config: { experimental_resume: "" } })
      yield* server.answer(6)
      assert.deepStrictEqual(textsOf(yield* lastBody(mock)), ["fresh"])
    }).pipe(Effect.scoped),
  )

  it.live(
    "L13 a path that cannot be resumed is an error that names the key, and creates nothing",
    () =>
      Effect.gen(function* () {
        const { home, path } = yield* stored
        const outside = join(home, "config.toml")
        const server = yield* Server.ready({ home })
        const inSessions = `expected the absolute path of a rollout file in ${home}/sessions`
        const none = path.replace(/[0-9a-f](?=\.jsonl$)/, (last) => (last === "0" ? "1" : "0"))
        const refused: ReadonlyArray<readonly [string, string]> = [
          ["rollout.jsonl", inSessions],
          [outside, inSessions],
          [none, "expected the path of a stored conversation"],
        ]
        for (const [i, [given, problem]] of refused.entries()) {
          server.call(i, "codex", { prompt: "hi", config: { experimental_resume: given } })
          const answer = yield* server.answer(i)
          assert.isTrue(answer.result?.["isError"])
          assert.strictEqual(
            Server.textOf(answer),
            `Failed to start Codex session: \`experimental_resume\`: ${problem}; got ${JSON.stringify(given)}`,
          )
        }
        const config = { experimental_resume: 5 }
        server.call("type", "codex", { prompt: "hi", config })
        assert.include(Server.textOf(yield* server.answer("type")), "in `experimental_resume`")
        server.send({ id: "list", method: "listConversations", params: {} })
        const { items } = (yield* server.answer("list")).result as Record<string, unknown>
        assert.strictEqual((items as ReadonlyArray<unknown>).length, 1)
      }).pipe(Effect.scoped),
  )
})
