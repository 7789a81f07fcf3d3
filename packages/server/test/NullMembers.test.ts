/** Optional members that clients send as null, over the whole path from the text of a request to its response. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { inputOf } from "../src/features/ToolSchemas.ts"
import { missingIn } from "../src/mcp/eras/Capabilities.ts"
import { takesForms } from "../src/mcp/Session.ts"
import { asking, exec, oneCall } from "./support/Asking.ts"
import { text, withAsking } from "./support/AskingServer.ts"
import { saying } from "./support/Stateless.ts"
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

  it.effect("in the members of every request without a handshake that are read by hand", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        const { _meta: meta } = saying()
        const nulls = {
          requestState: null,
          inputResponses: null,
          task: null,
          cursor: null,
          _meta: {
            ...(meta as object),
            progressToken: null,
            "io.modelcontextprotocol/clientInfo": null,
            "io.modelcontextprotocol/logLevel": null,
          },
        }
        const params: Readonly<Record<string, unknown>> = {
          "tools/call": { name: "codex", arguments: { prompt: "hi", model: null } },
          "resources/read": { uri: "codex://conversations" },
          "prompts/get": { name: "no-such-prompt" },
          "tools/list": {},
          "resources/list": {},
          "prompts/list": {},
        }
        for (const [method, own] of Object.entries(params)) {
          const without = yield* server.ask(`${method} 1`, method, {
            ...(own as object),
            _meta: meta,
          })
          const withNulls = yield* server.ask(`${method} 2`, method, {
            ...(own as object),
            ...nulls,
          })
          assert.deepStrictEqual(withNulls.error, without.error, method)
          assert.strictEqual(
            withNulls.result?.["resultType"],
            without.result?.["resultType"],
            method,
          )
        }
      }),
    ),
  )

  it.effect("in the state and the answers of a call that asked", () =>
    withAsking(
      (_, context) =>
        Effect.map(
          context.ask({
            one: {
              method: "elicitation/create",
              params: {
                message: "one?",
                requestedSchema: {
                  type: "object",
                  properties: { name: { type: "string" }, age: { type: "integer" } },
                  required: ["name"],
                },
              },
            },
          }),
          (answers) => text(JSON.stringify(answers)),
        ),
      (server) =>
        Effect.gen(function* () {
          const call = (more: Readonly<Record<string, unknown>> = {}) =>
            saying({ name: "t", arguments: {}, ...more }, { elicitation: {} })
          const first = yield* server.ask(1, "tools/call", call({ task: null }))
          const requestState = first.result?.["requestState"]
          assert.isString(requestState)
          const retry = (id: number, inputResponses: unknown) =>
            server.ask(id, "tools/call", call({ requestState, inputResponses }))
          const unanswered: ReadonlyArray<unknown> = [
            null,
            { one: null },
            { one: { action: "accept", content: { name: null } } },
          ]
          for (const [index, responses] of unanswered.entries()) {
            const again = yield* retry(index + 2, responses)
            assert.strictEqual(again.result?.["resultType"], "input_required")
          }
          const answer = { action: "accept", content: { name: "a", age: null }, _meta: null }
          const last = yield* retry(9, { one: answer })
          assert.strictEqual(
            textOf(last),
            JSON.stringify({ one: { action: "accept", content: { name: "a" } } }),
          )
        }),
    ),
  )

  it.effect.each<readonly [answer: unknown, decision: string]>([
    [{ action: "accept", content: { decision: null } }, "approved"],
    [{ action: "accept", content: null, decision: null }, "approved"],
    [{ action: null, decision: "approved", content: null }, "approved"],
    [{ action: null, decision: "denied" }, "denied"],
  ])("L7 in an approval without a handshake: %j is %s", ([answer, decision]) => {
    const asked = asking([exec])
    return withServer({ script: oneCall, tools: asked.tools }, (server) =>
      Effect.gen(function* () {
        const params = { name: "codex", arguments: { prompt: "ask" } }
        const forms = { elicitation: {} }
        const first = yield* server.ask(1, "tools/call", saying(params, forms))
        const { inputRequests, requestState } = first.result ?? {}
        const inputResponses = Object.fromEntries(
          Object.keys(inputRequests ?? {}).map((key) => [key, answer]),
        )
        const answered = { ...params, requestState, inputResponses }
        const second = yield* server.ask(2, "tools/call", saying(answered, forms))
        assert.strictEqual(second.result?.["resultType"], "complete")
        assert.deepStrictEqual<unknown>(asked.verdicts, [{ decision, reason: "answered" }])
      }),
    )
  })

  it("in the optional arguments of a tool that an application describes by JSON Schema", () => {
    const input = inputOf("t", {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "integer" } },
      required: ["a"],
      additionalProperties: false,
    })
    assert.deepStrictEqual(
      input.decode({ a: "x", b: null, unknown: null }),
      Result.succeed({ a: "x" }),
    )
    assert.isTrue(Result.isFailure(input.decode({ a: null })))
  })

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

  it.effect("but not for a required argument: the error names it", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        const answer = yield* server.call(1, "codex", { prompt: null, model: null })
        assert.include(textOf(answer), "expected a string (field `prompt`)")
      }),
    ),
  )
})
