/** How the agent works with the user: plan mode and the default one. */
import { assert, describe, it } from "@effect/vitest"
import * as Script from "@colloquy/testing/ProviderScript"
import * as Effect from "effect/Effect"
import { errorOf, resultOf } from "../support/AppHarness.ts"
import { at, lines, started, told, turn, withThreads } from "../support/Threading.ts"

const answers = ["one", "two", "three"].map((text) => Script.reply(Script.text(text)))

const mode = (name: "plan" | "default", settings: object = {}) => ({
  collaborationMode: {
    mode: name,
    settings: {
      model: "mock-model",
      reasoning_effort: null,
      developer_instructions: null,
      ...settings,
    },
  },
})

describe("collaborationMode", () => {
  it.effect("of a turn stays for later ones, and its instructions go to the model", () =>
    withThreads({ script: answers }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        const before = app.messages.length
        yield* turn(app, threadId, "plan it", mode("plan"))
        yield* app.quiet
        assert.deepStrictEqual(lines(app, before).slice(0, 2), [
          "thread/settings/updated",
          "answer turn",
        ])
        const updated = at(told(app, "thread/settings/updated")[0], "threadSettings")
        assert.strictEqual(at(updated, "collaborationMode", "mode"), "plan")
        const text = String(at(updated, "collaborationMode", "settings", "developer_instructions"))
        yield* turn(app, threadId, "more", {}, "more")
        yield* app.quiet
        const resumed = resultOf(yield* app.ask("resume", "thread/resume", { threadId }))
        assert.strictEqual(at(resumed, "collaborationMode", "mode"), "plan")
        yield* turn(app, threadId, "do it", mode("default"), "do")
        yield* app.quiet
        assert.strictEqual(
          at(
            told(app, "thread/settings/updated")[1],
            "threadSettings",
            "collaborationMode",
            "mode",
          ),
          "default",
        )
        const sent = (yield* app.provider.requests).map((one) => JSON.stringify(one))
        const isPlanned = (request: string) => request.includes(JSON.stringify(text).slice(1, -1))
        assert.deepStrictEqual(sent.map(isPlanned), [true, true, false])
      }),
    ),
  )

  it.effect("needs no effort and no instructions", () =>
    withThreads({ script: answers }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        const collaborationMode = { mode: "plan", settings: { model: "mock-model" } }
        yield* turn(app, threadId, "plan it", { collaborationMode })
        yield* app.quiet
        const updated = at(told(app, "thread/settings/updated")[0], "threadSettings")
        assert.strictEqual(at(updated, "collaborationMode", "mode"), "plan")
      }),
    ),
  )

  it.effect("has its own instructions, model and effort; what is the same changes nothing", () =>
    withThreads({ script: answers }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        const settings = { reasoning_effort: "high", developer_instructions: "Ask twice." }
        const params = { threadId, effort: "low", ...mode("plan", settings) }
        yield* app.ask("update", "thread/settings/update", params)
        yield* app.quiet
        yield* app.ask("again", "thread/settings/update", params)
        yield* app.quiet
        const [updated, ...more] = told(app, "thread/settings/updated")
        assert.deepStrictEqual(more, [])
        assert.strictEqual(at(updated, "threadSettings", "effort"), "high")
        assert.deepStrictEqual(at(updated, "threadSettings", "collaborationMode"), {
          mode: "plan",
          settings: { model: "mock-model", ...settings },
        })
        yield* turn(app, threadId)
        yield* app.quiet
        assert.include(JSON.stringify((yield* app.provider.requests)[0]), "Ask twice.")
      }),
    ),
  )

  it.effect("an unknown effort is an error that names it", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        const params = { threadId, ...mode("plan", { reasoning_effort: "extreme" }) }
        assert.deepStrictEqual(
          errorOf(yield* app.ask("update", "thread/settings/update", params)),
          { code: -32600, message: "unknown reasoning effort `extreme`" },
        )
      }),
    ),
  )
})
