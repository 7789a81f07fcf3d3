import { SubmissionRefused } from "@colloquy/core/ConversationErrors"
import { ConversationManager } from "@colloquy/core/ConversationManager"
import { localPrincipal } from "@colloquy/protocol/Connection"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as TestClock from "effect/testing/TestClock"
import { codex } from "../../../src/mcp/codex/CodexTool.ts"
import { ConversationsView } from "../../../src/ConversationsView.ts"
import { Server } from "../../../src/Server.ts"
import type { PeerControl } from "../../../src/jsonrpc/Caller.ts"
import { defaultReply, listed, withCore } from "../../support/Harness.ts"
import { callContext, connectionState } from "../../support/CallContext.ts"

const settled = Effect.forEach(Array.from({ length: 300 }), () => Effect.yieldNow, {
  discard: true,
})

const peer: PeerControl = {
  notify: () => Effect.void,
  request: () => Effect.die("not asked here"),
  cancel: () => Effect.void,
  passed: () => Effect.void,
}

/** A call of `codex` that is interrupted after `before`; returns the conversations that are left. */
const interrupted = (before: (created: Latch.Latch) => Effect.Effect<void>) =>
  withCore([defaultReply], (provider) =>
    Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const manager = yield* ConversationManager
      const created = yield* Latch.make(false)
      const slow = ConversationsView.of({
        ...(yield* Server).conversations(localPrincipal),
        createOnSubmit: (settings) =>
          Effect.uninterruptible(Effect.tap(manager.createOnSubmit(settings), () => created.await)),
      })
      const connection = yield* connectionState
      const call = yield* codex({ prompt: "x" }, callContext(peer), connection, undefined).pipe(
        Effect.provideService(ConversationsView, slow),
        Effect.forkChild({ startImmediately: true }),
      )
      yield* settled
      yield* before(created)
      const stopped = yield* Effect.forkChild(Fiber.interrupt(call), { startImmediately: true })
      yield* created.open
      yield* settled
      yield* Fiber.join(stopped)
      return {
        conversations: (yield* listed(manager)).length,
        requests: (yield* provider.requests).length,
      }
    }),
  )

describe("CodexTool", () => {
  it.effect("names no conversation when the first message is refused: there is none", () =>
    withCore([defaultReply], () =>
      Effect.gen(function* () {
        const manager = yield* ConversationManager
        const message = "4 turns are running already, which is the limit"
        const refusing = ConversationsView.of({
          ...(yield* Server).conversations(localPrincipal),
          createOnSubmit: (settings) =>
            Effect.map(manager.createOnSubmit(settings), (conversation) => ({
              ...conversation,
              attach: (options) => conversation.attach(options),
              submit: () => new SubmissionRefused({ reason: "TooManyTurns", message }),
            })),
        })
        const call = codex({ prompt: "x" }, callContext(peer), yield* connectionState, undefined)
        const result = yield* Effect.provideService(call, ConversationsView, refusing)
        assert.deepStrictEqual(result, {
          content: [{ type: "text", text: `Failed to start Codex session: ${message}` }],
          isError: true,
        })
        assert.deepStrictEqual(yield* listed(manager), [])
      }),
    ),
  )

  it.effect(
    "leaves no conversation when it is cancelled while its conversation is being created",
    () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* interrupted(() => Effect.void), {
          conversations: 0,
          requests: 0,
        })
      }),
  )

  it.effect(
    "keeps the conversation when it is cancelled later, because the client knows it by then",
    () =>
      Effect.gen(function* () {
        const after = (created: Latch.Latch) => Effect.andThen(created.open, settled)
        assert.deepStrictEqual(yield* interrupted(after), { conversations: 1, requests: 1 })
      }),
  )
})
