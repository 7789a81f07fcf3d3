import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Agent } from "../src/index.ts"

describe("Agent", () => {
  it.effect("answers", () =>
    Effect.gen(function* () {
      const agent = Agent.make({ instructions: "You are a till.", model: Agent.offline() })
      const chat = yield* agent.open("one")
      const events = yield* chat.ask("hello").pipe(Stream.runCollect)
      console.log(events.map((e) => e.type))
      const r = yield* chat.ask("hello").result
      console.log(r)
    }),
  )
})
