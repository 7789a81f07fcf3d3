/** Tests which provider a conversation of the built program uses, and the error when no provider answers. */
import * as MockProvider from "@colloquy/testing/MockProvider"
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as App from "./app/App.ts"
import { buildIfMissing } from "./support/BuiltProgram.ts"
import { home, provided } from "./support/Home.ts"
import * as Server from "./support/Server.ts"

beforeAll(buildIfMissing)

/** A state directory without any configuration. */
const empty = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "colloquy-empty-"))),
  (directory) =>
    Effect.sync(() => rmSync(directory, { recursive: true, maxRetries: 10, force: true })),
)

const unconfigured = (directory: string): string =>
  `No model provider is configured. Set OPENAI_API_KEY, log in (\`colloquy login\`, or \`loginApiKey\` or \`loginChatGpt\` of \`colloquy app-server\`), or set \`model_provider\` and its table of \`model_providers\` in ${directory}/config.toml. \`model_provider = "offline"\` requests the built-in offline model, which needs neither key nor network.`

describe("colloquy mcp without a configured provider", () => {
  it.live(
    "L3 a call is an error that says what to configure, unless it requests the offline model",
    () =>
      Effect.gen(function* () {
        const directory = yield* empty
        const server = yield* Server.ready({ home: directory })
        assert.strictEqual(server.stderr(), `colloquy: ${unconfigured(directory)}\n`)
        server.call("named", "codex", { prompt: "hi", model: "gpt-5" })
        server.call("plain", "codex", { prompt: "hi" })
        for (const id of ["named", "plain"]) {
          const { result } = yield* server.answer(id)
          assert.isTrue(result?.isError)
          assert.include(result?.content[0]?.text, unconfigured(directory))
          assert.deepStrictEqual(server.eventTypes(id), [])
        }
        server.call("by model", "codex", { prompt: "hi", model: "offline" })
        server.call("by provider", "codex", {
          prompt: "hi",
          model: "gpt-5",
          config: { model_provider: "offline" },
        })
        const [byModel, byProvider] = [
          yield* server.answer("by model"),
          yield* server.answer("by provider"),
        ]
        assert.match(Server.textOf(byModel) ?? "", /^This is the offline model `offline`\./)
        assert.match(Server.textOf(byProvider) ?? "", /^This is the offline model `gpt-5`\./)
      }),
  )

  it.live("L3 newConversation gives the same error until a key is stored", () =>
    Effect.gen(function* () {
      const directory = yield* empty
      const app = yield* App.start({ home: directory })
      const { message } = yield* app.refused("newConversation", { model: "gpt-5" })
      assert.include(message, unconfigured(directory))
      yield* app.ask("loginApiKey", { apiKey: "sk-test" })
      const made = yield* app.ask("newConversation", { model: "gpt-5" })
      assert.strictEqual(made["model"], "gpt-5")
    }),
  )
})

describe("colloquy mcp with a provider that cannot be used", () => {
  it.live(
    "L13 a provider without an address, or with a misspelt one, is an error with file, line and key",
    () =>
      Effect.gen(function* () {
        const directory = yield* home()
        const server = yield* Server.ready({ home: directory })
        const path = join(directory, "config.toml")
        const ask = (id: string, members: string) => {
          writeFileSync(
            path,
            `model_provider = "mine"\n[model_providers.mine]\nname = "Mine"\n${members}\n`,
          )
          server.call(id, "codex", { prompt: "hi" })
          return Effect.map(server.answer(id), (answer) => Server.textOf(answer) ?? "")
        }
        assert.include(
          yield* ask("missing", 'wire_api = "responses"'),
          `${path}:2: missing field \`base_url\`, expected the address of the provider`,
        )
        assert.include(
          yield* ask("misspelt", 'base_ulr = "http://127.0.0.1:9/v1"'),
          `${path}:4: unknown field \`base_ulr\`, did you mean \`base_url\`?`,
        )
        assert.deepStrictEqual(server.eventTypes("missing"), [])
      }),
  )

  it.live("L5 a refused connection ends the turn at once, with the address", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* Effect.scoped(MockProvider.make([]))
      const directory = yield* provided(baseUrl, "responses", { request: 4, stream: 5 })
      const server = yield* Server.ready({ home: directory })
      server.call(1, "codex", { prompt: "hi" })
      const answer = yield* server.answer(1)
      assert.strictEqual(
        Server.textOf(answer),
        `cannot connect to the model provider at ${baseUrl}/responses: connection refused (ECONNREFUSED)`,
      )
      assert.notInclude(server.eventTypes(1), "stream_error")
    }),
  )
})

describe("colloquy mcp and what is sent to the provider", () => {
  const search = { type: "web_search_call", id: "ws_1" }
  const answer = () =>
    Script.reply(
      Script.event({ type: "response.output_item.added", item: search }),
      Script.event({
        type: "response.output_item.done",
        item: { ...search, status: "completed", action: { type: "search", query: "effect 4" } },
      }),
      Script.text("found"),
    )

  for (const setting of ["web_search", "web_search_request"]) {
    it.live(
      `\`tools.${setting}\` offers the provider's search, whose beginning and end are events`,
      () =>
        Effect.gen(function* () {
          const provider = yield* MockProvider.make([answer(), Script.reply(Script.text("none"))])
          const server = yield* Server.ready({
            home: yield* provided(provider.baseUrl, "responses"),
          })
          server.call(1, "codex", { prompt: "hi", config: { [`tools.${setting}`]: true } })
          yield* server.answer(1)
          const begin = yield* server.event("web_search_begin", 1)
          const end = yield* server.event("web_search_end", 1)
          assert.deepStrictEqual(
            [begin.params?.msg, end.params?.msg],
            [
              { type: "web_search_begin", call_id: "ws_1" },
              { type: "web_search_end", call_id: "ws_1", query: "effect 4" },
            ],
          )
          server.call(2, "codex", { prompt: "hi" })
          yield* server.answer(2)
          const offered = (yield* provider.requests).map(({ body }) =>
            (body as { tools: ReadonlyArray<{ type: string; name?: string }> }).tools.map(
              ({ name, type }) => name ?? type,
            ),
          )
          assert.deepStrictEqual(offered, [
            ["shell", "request_permissions", "apply_patch", "web_search", "view_image"],
            ["shell", "request_permissions", "apply_patch", "view_image"],
          ])
        }),
    )
  }

  for (const effort of ["none", "minimal", "low", "medium", "high", "xhigh"]) {
    it.live(`the reasoning effort ${effort} of config.toml is sent to the provider`, () =>
      Effect.gen(function* () {
        const provider = yield* MockProvider.make(() => Script.reply(Script.text("ok")))
        const home = yield* provided(provider.baseUrl, "responses")
        const path = join(home, "config.toml")
        writeFileSync(path, `model_reasoning_effort = "${effort}"\n${readFileSync(path, "utf8")}`)
        const server = yield* Server.ready({ home })
        server.call(1, "codex", { prompt: "hi", model: "gpt-5" })
        yield* server.answer(1)
        const [sent] = yield* provider.requests
        assert.deepInclude(sent?.body, { reasoning: { effort, summary: "auto" } })
      }),
    )
  }

  it.live("a reasoning effort is not sent to a model without reasoning", () =>
    Effect.gen(function* () {
      const provider = yield* MockProvider.make(() => Script.reply(Script.text("ok")))
      const server = yield* Server.ready({ home: yield* provided(provider.baseUrl, "responses") })
      const asked = [
        ["gpt-4.1", {}],
        ["mock-model", {}],
        ["gpt-5", {}],
        ["mock-model", { model_supports_reasoning_summaries: true }],
        ["gpt-5", { model_supports_reasoning_summaries: false }],
      ] as const
      for (const [id, [model, more]] of asked.entries()) {
        const config = { model_reasoning_effort: "high", ...more }
        server.call(id, "codex", { prompt: "hi", model, config })
        yield* server.answer(id)
      }
      const sent = (yield* provider.requests).map(
        ({ body }) => (body as { reasoning: unknown }).reasoning,
      )
      const high = { effort: "high", summary: "auto" }
      assert.deepStrictEqual(sent, [null, null, high, high, null])
    }),
  )
})
