import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import {
  type AppOptions,
  created,
  hello,
  listening,
  outline,
  resultOf,
  say,
  withApp,
} from "../support/AppHarness.ts"
import type { Harness } from "../support/Harness.ts"
import { at, started, turn, withThreads } from "../support/Threading.ts"

const method = "account/rateLimits/updated"

const used = (used_percent: number) => ({
  primary: { used_percent, window_minutes: 300 },
  secondary: null,
})

/** Each turn reports the next of these limits. */
const telling = (...percents: ReadonlyArray<number>): AppOptions => {
  const left = [...percents]
  return {
    script: ({ index }) =>
      index % 2 === 0
        ? Script.reply(Script.toolCall("limits", {}, "c"))
        : Script.reply(Script.text("done")),
    tools: ToolRuntime.simple({
      specs: () => [],
      run: (_, { emit }) => {
        const next = left.shift()
        const rate_limits = next === undefined ? null : used(next)
        return Effect.as(emit({ type: "token_count", info: null, rate_limits }), "reported")
      },
    }),
  }
}

const limitsSent = ({ messages }: Harness) =>
  messages.flatMap((message) => (message.method === method ? [message.params] : []))

const read = (app: Harness, id: unknown) =>
  Effect.map(app.ask(id, "account/rateLimits/read"), (answer) => resultOf(answer)["rateLimits"])

describe(method, () => {
  it.effect("notifies every connection after the event, and only of a change", () =>
    withApp(telling(12, 12, 30), (app) =>
      Effect.gen(function* () {
        const other = yield* app.another
        yield* hello(other)
        const silent = yield* app.another
        const conversationId = yield* created(app)
        yield* listening(app, conversationId)
        for (const [turn, percents] of [[12], [12], [12, 30]].entries()) {
          yield* say(app, conversationId, "hi", {}, turn)
          yield* app.quiet
          assert.deepStrictEqual(
            [limitsSent(app), limitsSent(other)],
            [percents.map(used), percents.map(used)],
          )
        }
        assert.deepStrictEqual(silent.messages, [])
        const lines = outline(app)
        assert.isBelow(lines.indexOf("token_count"), lines.indexOf(method))
      }),
    ),
  )

  it.effect("two listeners of a conversation cause one notification", () =>
    withApp(telling(12, 30), (app) =>
      Effect.gen(function* () {
        const other = yield* app.another
        yield* hello(other)
        const conversationId = yield* created(app)
        for (const one of [app, other]) yield* listening(one, conversationId)
        for (const turn of [1, 2]) {
          yield* say(app, conversationId, "hi", {}, turn)
          yield* app.quiet
        }
        assert.deepStrictEqual(limitsSent(app), [used(12), used(30)])
        assert.deepStrictEqual(limitsSent(other), [used(12), used(30)])
      }),
    ),
  )

  it.effect("limits that are replayed to a later listener cause no second notification", () =>
    withApp(telling(12, 30), (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app)
        yield* listening(app, conversationId)
        for (const turn of [1, 2]) {
          yield* say(app, conversationId, "hi", {}, turn)
          yield* app.quiet
        }
        yield* listening(app, conversationId, { after: -1 }, "again")
        yield* app.quiet
        assert.deepStrictEqual(limitsSent(app), [used(12), used(30)])
        assert.deepStrictEqual(yield* read(app, "read"), used(30))
      }),
    ),
  )

  it.effect("limits that were not delivered yet are notified with the first listener", () =>
    withApp(telling(12), (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app)
        yield* say(app, conversationId, "hi")
        yield* app.quiet
        assert.deepStrictEqual(limitsSent(app), [])
        yield* listening(app, conversationId)
        yield* app.quiet
        assert.deepStrictEqual(limitsSent(app), [used(12)])
      }),
    ),
  )

  it.effect("absent limits cause no notification and change nothing", () =>
    withApp(telling(12), (app) =>
      Effect.gen(function* () {
        const conversationId = yield* created(app)
        yield* listening(app, conversationId)
        for (const turn of [1, 2]) {
          yield* say(app, conversationId, "hi", {}, turn)
          yield* app.quiet
        }
        assert.deepStrictEqual([limitsSent(app), yield* read(app, "read")], [[used(12)], used(12)])
      }),
    ),
  )

  it.effect("a client that uses threads gets them in the form of that dialect", () =>
    withThreads(telling(12), (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        yield* turn(app, threadId)
        yield* app.quiet
        const told = limitsSent(app).map((params) => at(params, "rateLimits", "primary"))
        assert.deepStrictEqual(told, [{ usedPercent: 12, windowDurationMins: 300, resetsAt: null }])
      }),
    ),
  )
})
