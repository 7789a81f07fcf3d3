import * as McpClient from "@colloquy/client/McpClient"
import * as McpServer from "@colloquy/server/McpServer"
import { memoryPair } from "@colloquy/testing/MemoryConnection"
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { withCore } from "../../server/test/support/Harness.ts"

describe("Progress, client and server", () => {
  it.effect.each([
    ["with the events", {}, 6],
    ["without them", { events: false }, 0],
  ] as const)("a caller is notified of each item before the result: %s", ([, wanted, events]) =>
    withCore([Script.reply(Script.text("one")), Script.reply(Script.text("two"))], () =>
      Effect.gen(function* () {
        const [there, here] = yield* memoryPair()
        yield* Effect.forkScoped(McpServer.serve(here))
        let eventCount = 0
        const messages: Array<string | undefined> = []
        const client = yield* McpClient.connect(there, {
          clientInfo: { name: "test", version: "1" },
          onEvent: () => Effect.sync(() => eventCount++),
          ...wanted,
        })
        const first = yield* client.codex(
          { prompt: "x" },
          { onProgress: ({ message }) => Effect.sync(() => messages.push(message)) },
        )
        assert.deepStrictEqual([first.text, eventCount], ["one", events])
        const { threadId = "" } = first
        yield* client.codexReply({ prompt: "x", threadId, "while-running": "queue" })
        assert.deepStrictEqual(messages, ["turn begun", "message: one"])
      }),
    ),
  )
})
