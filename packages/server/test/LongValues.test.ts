/** Values of a client that are as long as a frame allows, in errors of every dialect. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { withApp } from "./support/AppHarness.ts"
import { initialize } from "./support/Asking.ts"
import { type Harness, withServer } from "./support/Harness.ts"

const long = "💥".repeat(200_000)

const calls: ReadonlyArray<readonly [method: string, params: object]> = [
  ["newConversation", { model: 1, [long]: 1 }],
  ["getConversation", { conversationId: long }],
  ["resumeConversation", { path: long }],
  ["archiveConversation", { conversationId: long, rolloutPath: long }],
  ["thread/read", { threadId: long }],
  ["thread/list", { cursor: long }],
  ["turn/start", { threadId: long, input: [] }],
  ["getConversationSummary", { rolloutPath: `/${long}` }],
  ["command/exec/write", { processId: long }],
  ["command/exec", { command: ["a"], env: { [`=${long}`]: "" } }],
  ["mcpServer/tool/call", { threadId: long, server: long, tool: long }],
  [long, {}],
]

const assertShort = (app: Harness, of: string) =>
  assert.isBelow(app.texts.at(-1)?.length ?? 0, 20_000, of)

describe("a long value of a client makes no long error", () => {
  it.effect("of an app-server", () =>
    withApp({ capabilities: { experimentalApi: true } }, (app) =>
      Effect.forEach(
        calls,
        ([method, params], id) =>
          Effect.map(app.ask(id, method, params), (answer) => {
            assert.isDefined(answer.error, method.slice(0, 40))
            assertShort(app, method.slice(0, 40))
          }),
        { discard: true },
      ),
    ),
  )

  it.effect("of an MCP server", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        yield* server.send(initialize({}))
        yield* server.quiet
        const requests: ReadonlyArray<readonly [method: string, params: object]> = [
          ["resources/read", { uri: long }],
          ["prompts/get", { name: long }],
          ["tools/call", { name: long }],
          ["logging/setLevel", { level: long }],
          [long, {}],
        ]
        for (const [id, [method, params]] of requests.entries()) {
          const answer = yield* server.ask(id, method, params)
          assert.isDefined(answer.error ?? answer.result, method.slice(0, 40))
          // The specification has the URI in `data`: a client reads it there.
          const { message } = answer.error ?? { message: JSON.stringify(answer.result) }
          assert.isBelow(message.length, 10_000, method.slice(0, 40))
        }
      }),
    ),
  )
})
