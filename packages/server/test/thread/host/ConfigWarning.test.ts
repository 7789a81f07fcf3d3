import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { ConfigCheckPort } from "../../../src/thread/host/ports/ConfigCheckPort.ts"
import { started, told, withThreads } from "../../support/Threading.ts"

describe("configWarning", () => {
  it.effect("is sent to each client that starts a thread, once for the same faults", () => {
    const file = { fault: "`modle`: unknown key, ignored" }
    const warning = Effect.sync(() => file.fault)
    return withThreads({}, (app) =>
      Effect.gen(function* () {
        yield* started(app)
        assert.deepStrictEqual(told(app, "configWarning"), [{ summary: file.fault, details: null }])
        yield* app.ask("again", "thread/start", {})
        yield* app.quiet
        assert.lengthOf(told(app, "configWarning"), 1)
        file.fault = "another"
        yield* app.ask("more", "thread/start", {})
        yield* app.quiet
        assert.lengthOf(told(app, "configWarning"), 2)
      }),
    ).pipe(Effect.provideService(ConfigCheckPort, { warning }))
  })
})
