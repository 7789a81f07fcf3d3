import { assert, it } from "@effect/vitest"
import * as Script from "@colloquy/testing/ProviderScript"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { initialize } from "./support/Asking.ts"
import { toolCall, withServer } from "./support/Harness.ts"
import { losable } from "./support/TakenOver.ts"

it.effect("L1 L16 answers a call whose conversation another process has taken over", () => {
  const store = losable()
  const script = [Script.reply(Script.text("half"), Script.delay("1 second"), Script.text("end"))]
  return withServer({ script, store: store.layer }, (server) =>
    Effect.gen(function* () {
      yield* server.send(initialize({}))
      yield* server.send(toolCall("call", "codex", { prompt: "hello" }))
      yield* server.quiet
      store.lost = true
      yield* TestClock.adjust("2 seconds")
      const { result } = yield* server.response("call")
      assert.isTrue(result?.["isError"])
      assert.include(JSON.stringify(result), "was taken over by another writer")
    }),
  )
})
