/** Requests that are refused before anything happens, and values that are accepted as they are. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Script from "@colloquy/testing/ProviderScript"
import { HostPort } from "../../src/app/ports/HostPort.ts"
import { resultOf, withApp } from "../support/AppHarness.ts"
import { at, started, told, withThreads } from "../support/Threading.ts"

const input = [{ type: "text", text: "hi" }]

const slow = { ...HostPort.none, gitDiffToRemote: () => Effect.never }

const refusals = [
  ["thread/start", { model: "" }, "params.model"],
  ["turn/start", { input, model: "" }, "params.model"],
  ["thread/settings/update", { model: "" }, "params.model"],
  [
    "turn/start",
    {
      input,
      collaborationMode: {
        mode: "plan",
        settings: { model: "", reasoning_effort: null, developer_instructions: null },
      },
    },
    "collaborationMode.settings.model",
  ],
] as const

describe("values of requests", () => {
  it.effect.each(refusals)("%s with %j is refused, and names %s", ([method, params, field]) =>
    withThreads({ capabilities: { experimentalApi: true } }, (app) =>
      Effect.gen(function* () {
        const threadId = method === "thread/start" ? undefined : yield* started(app)
        const { error } = yield* app.ask(
          "bad",
          method,
          threadId === undefined ? params : { threadId, ...params },
        )
        assert.strictEqual(error?.code, -32600)
        assert.include(error?.message, field)
        assert.deepStrictEqual(told(app, "turn/started"), [])
      }),
    ),
  )

  it.effect(
    "an output schema can be any JSON, and a directory need not exist, as in the original",
    () =>
      withThreads({ script: [Script.reply(Script.text("{}"))] }, (app) =>
        Effect.gen(function* () {
          const threadId = yield* started(app)
          const params = { threadId, input, outputSchema: "str", cwd: "/no/such" }
          const answer = yield* app.ask("turn", "turn/start", params)
          assert.strictEqual(at(resultOf(answer), "turn", "status"), "inProgress")
          yield* app.quiet
          assert.strictEqual(at(told(app, "turn/completed")[0], "turn", "status"), "completed")
        }),
      ),
  )

  it.effect("more requests than are served at once get the code of the original", () =>
    withApp({ maxInFlight: 1, ports: { host: slow } }, (app) =>
      Effect.gen(function* () {
        yield* app.send({ id: "a", method: "gitDiffToRemote", params: { cwd: "/workspace" } })
        yield* app.quiet
        const { error } = yield* app.ask("b", "thread/list", {})
        assert.deepStrictEqual<unknown>(error, {
          code: -32001,
          message: "Server overloaded; retry later.",
          data: { reason: "more than 1 requests in flight" },
        })
      }),
    ),
  )
})
