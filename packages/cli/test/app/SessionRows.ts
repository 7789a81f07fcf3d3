/** Rows for the methods of `app/Session.ts`. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { userAgent as userAgentOf } from "../../src/server/UserAgent.ts"
import { invalid, notInitialized, refuses, row } from "./Row.ts"

const userAgent = userAgentOf({})

const initialized = row("is accepted and not answered", {}, (app) =>
  Effect.gen(function* () {
    yield* app.notify("initialized")
    yield* app.notify("initialized", { no: "such params" })
    assert.deepStrictEqual(
      yield* app.refused("initialized"),
      invalid("Invalid request: `initialized` is a notification, expected no `id`"),
    )
    assert.strictEqual(app.messages.length, 2)
  }),
)

export const sessionRows = {
  initialized,

  initialize: row("is answered once, with the name of the server", { initialized: false }, (app) =>
    Effect.gen(function* () {
      yield* refuses(
        app,
        "initialize",
        { clientInfo: { name: "rows" } },
        invalid("Invalid request: params.clientInfo.version: Missing key"),
      )
      const { codexHome, ...server } = yield* app.initialize
      assert.isString(codexHome)
      assert.deepStrictEqual(server, {
        userAgent: `${userAgent} (rows; 1)`,
        platformFamily: "unix",
        platformOs: process.platform === "darwin" ? "macos" : process.platform,
      })
      yield* refuses(
        app,
        "initialize",
        { clientInfo: { name: "other", version: "2" } },
        invalid("Already initialized"),
      )
    }),
  ),

  getUserAgent: row("names the server and its client", { initialized: false }, (app) =>
    Effect.gen(function* () {
      yield* refuses(app, "getUserAgent", undefined, notInitialized)
      const { userAgent: named } = yield* app.initialize
      assert.deepStrictEqual(yield* app.ask("getUserAgent"), { userAgent: named })
    }),
  ),
} as const
