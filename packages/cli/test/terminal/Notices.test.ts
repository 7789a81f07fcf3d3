import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Notices } from "../../src/terminal/chat/Notices.ts"

describe("the lines of the log of a chat", () => {
  it.effect("are counted when the chat has no room for them", () =>
    Effect.gen(function* () {
      const elsewhere: Array<string> = []
      const shown: Array<string> = []
      let room = 2
      const notices = new Notices((line) => void elsewhere.push(line))
      notices.line("before")
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* notices.forward((line) => {
            if (room === 0) return false
            room--
            shown.push(line)
            return true
          })
          for (let n = 0; n < 10; n++) notices.line(`${n}`)
          room = 2
          notices.line("10")
          notices.line("11")
        }),
      )
      notices.line("after")
      assert.deepStrictEqual(shown, ["0", "1", "8 lines of the log are left out", "10"])
      assert.deepStrictEqual(elsewhere, ["before", "1 lines of the log are left out", "after"])
    }),
  )
})
