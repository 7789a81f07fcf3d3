import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Agent } from "../src/testing/index.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => Fs.mkdtempSync(Path.join(Os.tmpdir(), "agent-"))),
  (path) => Effect.sync(() => Fs.rmSync(path, { recursive: true, maxRetries: 10, force: true })),
)

describe("Agent.files", () => {
  it.live("another agent resumes the conversation, and two at a time are refused", () =>
    Effect.gen(function* () {
      const store = Agent.files(yield* folder)
      const model = Agent.scripted(["one", "two"])
      const agent = () => Agent.make({ instructions: "Be brief.", model, store })
      yield* Effect.scoped(
        Effect.gen(function* () {
          const chat = yield* agent().open("user-17")
          yield* chat.ask("a").result
          const error = yield* Effect.flip(agent().open("user-17"))
          assert.strictEqual(error._tag, "ConversationUnavailable")
        }),
      )
      const chat = yield* agent().open("user-17")
      assert.isTrue(chat.isResumed)
      assert.strictEqual((yield* chat.ask("b").result).text, "two")
      assert.lengthOf(model.requests[1]?.input ?? [], 3)
    }),
  )
})
