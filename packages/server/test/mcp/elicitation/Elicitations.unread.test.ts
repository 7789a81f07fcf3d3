import type { Conversation } from "@colloquy/core/Conversation"
import { ConversationManager } from "@colloquy/core/ConversationManager"
import type { ToolContext } from "@colloquy/core/ToolRuntime"
import { memoryPair } from "@colloquy/testing/MemoryConnection"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as McpServer from "../../../src/McpServer.ts"
import { type Asked, asking, exec, initialize, oneCall, result } from "../../support/Asking.ts"
import { cancelled, listed, toolCall, withCore } from "../../support/Harness.ts"

const settled = Effect.forEach(Array.from({ length: 500 }), () => Effect.yieldNow, {
  discard: true,
})

/** Runs when the question was sent: the client has stopped reading then. */
const chatter = ({ emit }: ToolContext) =>
  Effect.andThen(
    settled,
    Effect.forEach(
      Array.from({ length: 20 }),
      () => emit({ type: "background_event", message: "…" }),
      { discard: true },
    ),
  )

/** A client that has read its question and then stops reading, while the server has more to send than there is room. */
const withUnread = <A>(
  asked: Asked,
  body: (
    send: (message: unknown) => Effect.Effect<void>,
    conversation: Conversation,
  ) => Effect.Effect<A, never, Scope.Scope>,
) =>
  withCore(
    oneCall,
    () =>
      Effect.gen(function* () {
        const [client, serverSide] = yield* memoryPair(4)
        yield* Effect.forkChild(McpServer.serve(serverSide), { startImmediately: true })
        const send = (message: unknown) => Effect.orDie(client.send([JSON.stringify(message)]))
        yield* send(initialize({ elicitation: {} }))
        yield* send(toolCall(2, "codex", { prompt: "ask" }))
        let question: string | undefined
        while (question === undefined) {
          const frames = yield* Effect.orDie(client.receive)
          question = frames
            .flatMap((frame) => (frame._tag === "Text" ? [frame.text] : []))
            .find((text) => text.includes('"codex_elicitation"'))
        }
        yield* settled
        yield* settled
        const manager = yield* ConversationManager
        const [id = ""] = yield* listed(manager)
        return yield* body(send, yield* Effect.orDie(manager.get(id)))
      }),
    asked.tools,
  )

const deny = { type: "exec_approval", id: "c", decision: "denied" } as const

describe("elicitation/create: a client that does not read", () => {
  it.effect("L7 its answer to a resolved question does not answer the next one of the call", () => {
    const asked = asking([exec, exec], chatter)
    return withUnread(asked, (send, conversation) =>
      Effect.gen(function* () {
        // The server cannot withdraw the question yet.
        yield* Effect.orDie(conversation.submit(deny))
        yield* settled
        assert.strictEqual((yield* Effect.orDie(conversation.state)).approvals.open.length, 1)
        yield* send(result(1, { decision: "approved" }))
        yield* settled
        assert.strictEqual((yield* Effect.orDie(conversation.state)).approvals.open.length, 1)
        assert.deepStrictEqual(asked.verdicts, [{ decision: "denied", reason: "answered" }])
      }),
    )
  })

  it.effect(
    "L6 its cancelled call releases the turn and its place among the listeners that answer",
    () => {
      const asked = asking([exec], chatter)
      return withUnread(asked, (send, conversation) =>
        Effect.gen(function* () {
          yield* send(cancelled(2))
          yield* settled
          yield* TestClock.adjust("5 seconds")
          yield* settled
          const { approvals, turn } = yield* Effect.orDie(conversation.state)
          assert.deepStrictEqual(
            [approvals.approvalListeners, approvals.open, turn],
            [0, [], undefined],
          )
        }),
      )
    },
  )
})
