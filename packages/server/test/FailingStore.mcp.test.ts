import * as FullStore from "@colloquy/testing/FullStore"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { elicitations, exec, asking, initialize, oneCall, withdrawn } from "./support/Asking.ts"
import { created } from "./support/Conversing.ts"
import { type Harness, toolCall, withServer } from "./support/Harness.ts"
import { asked, callAsTask, taskIdIn } from "./support/Tasking.ts"
import type { WireMessage } from "./support/Wire.ts"

const settle = (server: Harness) =>
  Effect.andThen(Effect.andThen(server.quiet, TestClock.adjust("15 seconds")), server.quiet)

const assertFull = (message: WireMessage | undefined) =>
  assert.include(JSON.stringify(message ?? "no answer"), FullStore.fullMessage)

const answered = ({ messages }: Harness, id: unknown) =>
  messages.find((message) => message.method === undefined && message.id === id)

/** A server with one conversation, whose turn waits for an answer that was not given yet. */
const withWaitingTurn = (
  body: (server: Harness, store: FullStore.FullStore, id: string) => Effect.Effect<void>,
) =>
  Effect.suspend(() => {
    const store = FullStore.make()
    const options = { script: oneCall, tools: asking([exec]).tools, store: store.layer }
    return withServer(options, (server) =>
      Effect.gen(function* () {
        yield* server.send(initialize({ elicitation: {} }))
        const id = yield* created(server, "new")
        yield* server.call("stream", "conversationStream", { conversation_id: id })
        yield* server.call("say", "conversationSendMessage", {
          conversation_id: id,
          content: [{ type: "text", text: "one" }],
        })
        yield* server.quiet
        assert.lengthOf(elicitations(server), 1)
        yield* body(server, store, id)
      }),
    )
  })

/** Makes the store full, and causes the conversation to notice it. */
const fill = (server: Harness, store: FullStore.FullStore, id: string) =>
  Effect.gen(function* () {
    store.room = 0
    assertFull(
      yield* server.call("more", "conversationSendMessage", {
        conversation_id: id,
        content: [{ type: "text", text: "two" }],
      }),
    )
    yield* settle(server)
  })

describe("an MCP server whose store is full", () => {
  for (const name of ["codex", "codex-reply"]) {
    it.effect(`L1 answers ${name} with the reason, at whatever record the store is full`, () =>
      Effect.gen(function* () {
        let failed = 0
        for (let room = 0; room < 8; room++) {
          const store = FullStore.make()
          const options = { script: oneCall, tools: asking([]).tools, store: store.layer }
          yield* withServer(options, (server) =>
            Effect.gen(function* () {
              const threadId = yield* created(server, "new")
              store.room = room
              const args = name === "codex" ? {} : { threadId }
              yield* server.send(toolCall(1, name, { prompt: "go", ...args }))
              yield* settle(server)
              const answer = answered(server, 1)
              if (answer?.result?.["isError"] !== true) {
                assert.include(JSON.stringify(answer), '"done"')
                return
              }
              failed++
              assertFull(answer)
              store.room = Infinity
              yield* server.send(toolCall(2, "codex-reply", { prompt: "go", threadId }))
              yield* settle(server)
              assert.notInclude(JSON.stringify(answered(server, 2)), FullStore.fullMessage)
            }),
          )
        }
        assert.isAbove(failed, 3)
      }),
    )
  }

  it.effect("L5 ends a stream with the reason, and withdraws its question", () =>
    withWaitingTurn((server, store, id) =>
      Effect.gen(function* () {
        yield* fill(server, store, id)
        const last = server.messages.find(
          ({ method }) => method === "notifications/stream_disconnected",
        )
        assertFull(last)
        assert.deepStrictEqual(withdrawn(server), [elicitations(server)[0]?.id])
        store.room = Infinity
        yield* server.call("again", "conversationStream", { conversation_id: id })
        yield* server.quiet
        assert.lengthOf(elicitations(server), 2, "the question is put again")
      }),
    ),
  )

  it.effect("L1 answers conversationWait with the reason", () =>
    withWaitingTurn((server, store, id) =>
      Effect.gen(function* () {
        yield* server.send(toolCall("wait", "conversationWait", { conversation_id: id }))
        yield* server.quiet
        assert.isUndefined(answered(server, "wait"))
        yield* fill(server, store, id)
        assertFull(answered(server, "wait"))
      }),
    ),
  )

  it.effect("L5 a resource is updated at the end, and by the events of the next use", () =>
    withWaitingTurn((server, store, id) =>
      Effect.gen(function* () {
        const updates = () =>
          server.messages.filter(({ method }) => method === "notifications/resources/updated")
            .length
        yield* server.ask("watch", "resources/subscribe", { uri: `colloquy://conversations/${id}` })
        yield* settle(server)
        const before = updates()
        yield* fill(server, store, id)
        const failed = updates()
        assert.isAbove(failed, before)
        store.room = Infinity
        yield* server.call("status", "conversationStatus", { conversation_id: id })
        yield* settle(server)
        assert.isAbove(updates(), failed)
      }),
    ),
  )

  it.effect("L1 a task ends with the reason, and tasks/result is answered", () =>
    Effect.gen(function* () {
      const store = FullStore.make()
      const options = { script: oneCall, tools: asking([exec]).tools, store: store.layer }
      yield* withServer(options, (server) =>
        Effect.gen(function* () {
          yield* asked.hello(server)
          const taskId = taskIdIn(yield* callAsTask(server, asked, 2, "codex", { prompt: "ask" }))
          yield* server.quiet
          yield* server.send({ jsonrpc: "2.0", id: 3, method: "tasks/result", params: { taskId } })
          yield* server.quiet
          const [question] = elicitations(server)
          store.room = 0
          yield* server.send({
            jsonrpc: "2.0",
            id: question?.id,
            result: { action: "accept", content: { decision: "approved" } },
          })
          yield* settle(server)
          assertFull(answered(server, 3))
        }),
      )
    }),
  )
})
