/** Optional members that clients send as null, over the whole path from the text of a request to its response. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { missingIn } from "../src/mcp/revision/Capabilities.ts"
import { takesForms } from "../src/mcp/Session.ts"
import { withServer } from "./support/Harness.ts"
import { textOf, threadOf, callResult } from "./support/Wire.ts"

describe("null means absent", () => {
  it.effect("in initialize, tools/list and every optional argument of codex and codex-reply", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        const hello = yield* server.ask(1, "initialize", {
          protocolVersion: "2025-06-18",
          capabilities: { elicitation: null, roots: null, sampling: null },
          clientInfo: { name: "test", title: null, version: "1" },
          _meta: null,
        })
        assert.property(hello.result, "serverInfo")
        const list = yield* server.ask(2, "tools/list", { cursor: null, _meta: null })
        assert.property(list.result, "tools")
        const first = yield* server.ask(3, "tools/call", {
          name: "codex",
          task: null,
          _meta: { progressToken: null },
          arguments: {
            prompt: "hi",
            model: null,
            profile: null,
            cwd: null,
            "approval-policy": null,
            sandbox: null,
            config: null,
            "base-instructions": null,
            "developer-instructions": null,
            "compact-prompt": null,
            "include-plan-tool": null,
          },
        })
        assert.notProperty(callResult(first), "isError", textOf(first))
        const reply = yield* server.ask(4, "tools/call", {
          name: "codex-reply",
          arguments: {
            prompt: "again",
            conversationId: null,
            sessionId: null,
            threadId: threadOf(first),
            "while-running": null,
          },
        })
        assert.notProperty(callResult(reply), "isError", textOf(reply))
      }),
    ),
  )

  it.each<readonly [elicitation: unknown, forms: boolean]>([
    [null, false],
    [{}, true],
    [{ form: null }, true],
    [{ form: null, url: {} }, false],
    [{ form: {}, url: null }, true],
    [{ url: null }, true],
  ])("in the capability elicitation: %j takes forms: %s", (elicitation, forms) => {
    assert.strictEqual(takesForms({ elicitation }), forms)
    const missing = missingIn({ elicitation }, { elicitation: { form: {} } })
    assert.strictEqual(missing === undefined, forms)
  })

  it.effect("but not for a required argument, whose error names it", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        const answer = yield* server.call(1, "codex", { prompt: null, model: null })
        assert.include(textOf(answer), "expected a string (field `prompt`)")
      }),
    ),
  )
})
