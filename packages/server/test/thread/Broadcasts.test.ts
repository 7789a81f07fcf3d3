/** Which connections get the notifications that are for all clients of app-server v2, and from when on. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { hello } from "../support/AppHarness.ts"
import type { Harness } from "../support/Harness.ts"
import { started, turn, withThreads } from "../support/Threading.ts"

/** A thread that is started, used, named and archived. */
const used = (app: Harness) =>
  Effect.gen(function* () {
    const threadId = yield* started(app)
    yield* turn(app, threadId)
    yield* app.quiet
    yield* app.ask("name", "thread/name/set", { threadId, name: "n" })
    yield* app.ask("archive", "thread/archive", { threadId })
    yield* app.quiet
  })

const everything = [
  "thread/started",
  "thread/status/changed",
  "thread/status/changed",
  "thread/name/updated",
  "thread/status/changed",
  "thread/archived",
]

const methods = ({ messages }: Harness) =>
  messages.flatMap(({ id, method }) =>
    id === undefined && method?.startsWith("thread/") === true ? [method] : [],
  )

describe("a connection that has only sent initialize", () => {
  const declared = [
    [{ experimentalApi: true }, everything],
    [{ experimentalApi: false }, everything],
    [
      { optOutNotificationMethods: ["thread/status/changed"] },
      everything.filter((method) => method !== "thread/status/changed"),
    ],
    [{}, []],
  ] as const
  for (const [capabilities, expected] of declared) {
    it.effect(`and has declared ${JSON.stringify(capabilities)}`, () =>
      withThreads({}, (app) =>
        Effect.gen(function* () {
          const other = yield* app.another
          yield* hello(other, capabilities)
          yield* used(app)
          yield* other.quiet
          assert.deepStrictEqual(methods(other), [...expected])
          assert.strictEqual(other.messages[0]?.id, "hello")
        }),
      ),
    )
  }

  it.effect("gets nothing from a second initialize, which is refused", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        const other = yield* app.another
        yield* hello(other)
        const again = {
          clientInfo: { name: "b", version: "1" },
          capabilities: { experimentalApi: true },
        }
        const refused = yield* other.ask("again", "initialize", again)
        assert.strictEqual(refused.error?.code, -32600)
        yield* used(app)
        yield* other.quiet
        assert.deepStrictEqual(methods(other), [])
      }),
    ),
  )
})

it.effect("a connection gets them from its first request of this version on", () =>
  withThreads({}, (app) =>
    Effect.gen(function* () {
      const other = yield* app.another
      yield* hello(other)
      yield* other.ask("list", "thread/loaded/list", {})
      yield* used(app)
      yield* other.quiet
      assert.deepStrictEqual(methods(other), everything)
    }),
  ),
)
