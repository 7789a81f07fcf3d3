/** Tools while they run: what they acquire, and what they wait for. */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { Agent } from "../src/testing/index.ts"

class User extends Context.Service<User, { readonly name: string }>()("test/User") {}

describe("two chats of one conversation", () => {
  const who = Agent.tool("who", { run: () => Effect.map(User, ({ name }) => name) })
  const as = (name: string) => Effect.provideService(User, { name })

  it.effect("run tools with the services of the open of the chat that asks", () =>
    Effect.gen(function* () {
      const calls = [Agent.calls("who"), "done"]
      const test = Agent.test({ tools: [who], script: [...calls, ...calls] })
      const first = yield* test.open("shared").pipe(as("Ada"))
      const second = yield* test.open("shared").pipe(as("Bob"))
      yield* first.ask("who?").result
      assert.deepStrictEqual(test.sent().outputs, ["Ada"])
      yield* second.ask("who?").result
      assert.deepStrictEqual(test.sent().outputs.slice(-1), ["Bob"])
    }),
  )

  it.effect("have the tools that each of them was opened with", () =>
    Effect.gen(function* () {
      const none = Agent.tool("none", { run: () => Effect.void })
      const test = Agent.test({ tools: [who, none], script: ["a", "b"] })
      const chat = yield* test.open().pipe(as("Ada"))
      const narrow = yield* chat.child({ name: "one", tools: ["none"] })
      const wide = yield* chat.child({ name: "one" })
      yield* narrow.ask("a").result
      assert.deepStrictEqual(test.sent().tools, ["none"])
      yield* wide.ask("b").result
      assert.deepStrictEqual(test.sent().tools, ["who", "none"])
    }),
  )
})

describe("the scope of a tool", () => {
  it.effect("is that of its call: what it acquires is released when the call ends", () =>
    Effect.gen(function* () {
      const log: Array<string> = []
      const acquire = (what: string) =>
        Effect.acquireRelease(
          Effect.sync(() => log.push(`acquire ${what}`)),
          () => Effect.sync(() => log.push(`release ${what}`)),
        )
      const read = Agent.tool("read", {
        approve: () => Effect.as(acquire("rule"), true),
        run: () => Effect.as(acquire("run"), "text"),
      })
      const test = Agent.test({ tools: [read], script: [Agent.calls("read"), "done"] })
      const chat = yield* test.open()
      const onApproval = () => Effect.as(acquire("policy"), true)
      yield* chat.ask("read", { onApproval }).result
      const each = ["rule", "policy", "run"].flatMap((what) => [
        `acquire ${what}`,
        `release ${what}`,
      ])
      assert.deepStrictEqual(log, each)
      assert.deepStrictEqual(test.sent().outputs, ["text"])
    }),
  )
})
