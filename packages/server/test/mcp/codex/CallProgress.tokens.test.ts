import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { cancelled, listed, withServer } from "../../support/Harness.ts"
import { codex, progressOf, rises } from "../../support/Progress.ts"

const hang: Script.ProviderScript = Script.byLastUserText([
  ["hang", Script.reply(Script.bareDeltas("a"), Script.hang)],
  ["", Script.reply(Script.text("done"))],
])

describe("notifications/progress: tokens", () => {
  it.effect.each(['"t"', '""', '"0"', "0", "-7", "9007199254740993", '"9007199254740993"'])(
    "the token %s is returned as it was sent",
    (token) =>
      withServer({}, (server) =>
        Effect.gen(function* () {
          const text = JSON.stringify(codex(1, "x", "TOKEN")).replace('"TOKEN"', token)
          yield* server.sendTexts(text)
          yield* server.response(1)
          const lines = server.texts.filter((line) => line.includes("notifications/progress"))
          assert.isAbove(lines.length, 1)
          for (const line of lines) assert.include(line, `"progressToken":${token},`)
        }),
      ),
  )

  it.effect.each([1.5, true, {}, ["t"], "t".repeat(1025)])(
    "L13 the token %j is refused with its place",
    (token) =>
      withServer({}, (server) =>
        Effect.gen(function* () {
          yield* server.send(codex(1, "x", token))
          const { error } = yield* server.response(1)
          assert.strictEqual(error?.code, -32602)
          assert.include(error?.message, "params._meta.progressToken")
          assert.deepStrictEqual(yield* listed(server.manager), [])
        }),
      ),
  )

  it.effect("calls that share a token share its numbers, which restart when all have ended", () =>
    withServer({ script: hang }, (server) =>
      Effect.gen(function* () {
        yield* server.send(codex(2, "hang", "t"), codex(3, "x", "t"))
        yield* server.response(3)
        yield* TestClock.adjust("10 seconds")
        yield* server.quiet
        const numbers = progressOf(server).map(({ progress }) => progress)
        assert.isTrue(numbers.length > 3 && rises(numbers), JSON.stringify(numbers))
        yield* server.send(cancelled(2))
        yield* server.quiet
        const before = progressOf(server).length
        yield* server.send(codex(4, "x", "t"))
        yield* server.response(4)
        assert.strictEqual(progressOf(server)[before]?.["progress"], 1)
      }),
    ),
  )
})
