import { Agent } from "@colloquy/agent/testing"
import * as Client from "@colloquy/client/Client"
import { memoryPair } from "@colloquy/testing/MemoryConnection"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { Ask, Chats, Open } from "./Dialect.ts"
import { serve } from "./Server.ts"

it.effect("a typed client of the same definition opens a chat and gets an answer in pieces", () =>
  Effect.gen(function* () {
    const agent = Agent.make({ instructions: "", model: Agent.scripted(["Hello, Ann."]) })
    const [ours, theirs] = yield* memoryPair()
    yield* Effect.forkScoped(serve(agent, theirs))
    const pieces: Array<string> = []
    const client = yield* Client.make(Chats, ours, {
      handlers: { "chat/delta": ({ text }) => Effect.sync(() => void pieces.push(text)) },
    })
    assert.isFalse((yield* client.request(Open, { name: "ann" })).isResumed)
    const { answer } = yield* client.request(Ask, { name: "ann", message: "hi" })
    assert.deepStrictEqual([answer, pieces.join("")], ["Hello, Ann.", "Hello, Ann."])
    const refused = yield* Effect.flip(client.request(Ask, { name: "ann", message: "more" }))
    assert.include(refused.message, "nobody expected request 2")
  }),
)

it.effect("two requests that open one name at the same time get the same chat", () =>
  Effect.gen(function* () {
    const agent = Agent.make({ instructions: "", model: Agent.scripted([]) })
    const [ours, theirs] = yield* memoryPair()
    yield* Effect.forkScoped(serve(agent, theirs))
    const client = yield* Client.make(Chats, ours, {
      handlers: { "chat/delta": () => Effect.void },
    })
    const open = client.request(Open, { name: "ann" })
    const [first, second] = yield* Effect.all([open, open], { concurrency: 2 })
    assert.deepStrictEqual(first, second)
  }),
)
