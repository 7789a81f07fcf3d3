import { ConversationManager } from "@colloquy/core/ConversationManager"
import { SettingsResolver } from "@colloquy/core/ConversationSettings"
import { type ToolContext, ToolRuntime } from "@colloquy/core/ToolRuntime"
import type { Connection } from "@colloquy/protocol/Connection"
import type { CodexEvent } from "@colloquy/protocol/mcp/CodexMcp"
import type { Params } from "@colloquy/protocol/Method"
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as TestClock from "effect/testing/TestClock"
import { runTurn } from "../../../src/mcp/codex/TurnCall.ts"
import type { PeerControl } from "../../../src/jsonrpc/Caller.ts"
import { oneCall } from "../../support/Asking.ts"
import { withCore, withServer } from "../../support/Harness.ts"
import { callResult, textOf, typesOf } from "../../support/Wire.ts"
import { callContext, connectionState } from "../../support/CallContext.ts"

/** Tools of a turn in which something else fails. */
const failing = (emit: (context: ToolContext) => Effect.Effect<void>) =>
  ToolRuntime.simple({
    specs: () => [],
    run: (_, context) => Effect.as(emit(context), "ran"),
  })

const settled = Effect.forEach(Array.from({ length: 300 }), () => Effect.yieldNow, {
  discard: true,
})

type EventParams = Params<typeof CodexEvent>

/** A client that reads while the latch is open; a batch is accepted whole or, when withdrawn, not at all. */
const client = (reading: Latch.Latch) => {
  const events: Array<string> = []
  const send: Connection["send"] = () => Effect.void
  const peer: PeerControl = {
    notify: (_, params) =>
      Effect.andThen(reading.await, () => {
        for (const { msg } of params as ReadonlyArray<EventParams>) events.push(msg.type)
        return send([])
      }),
    request: () => Effect.die("not asked here"),
    cancel: () => Effect.void,
    passed: () => Effect.void,
  }
  return { events, peer }
}

const cancelWhileBlocked = (script: Script.ProviderScript, readAgain: boolean) =>
  withCore(script, () =>
    Effect.gen(function* () {
      const manager = yield* ConversationManager
      const settings = yield* Effect.orDie(
        Effect.flatMap(SettingsResolver, (resolver) => resolver.resolve({})),
      )
      const conversation = yield* Effect.orDie(manager.create(settings))
      const reading = yield* Latch.make(false)
      const { events, peer } = client(reading)
      const call = { conversation, prompt: "x", submissionId: "1", from: 0, progress: undefined }
      const connection = yield* connectionState
      const turn = yield* Effect.forkChild(runTurn(connection, callContext(peer), call), {
        startImmediately: true,
      })
      yield* settled
      yield* TestClock.adjust(0)
      const cancelled = yield* Effect.forkChild(Fiber.interrupt(turn), { startImmediately: true })
      yield* settled
      if (readAgain) yield* reading.open
      yield* settled
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(cancelled)
      return { events, state: yield* conversation.state }
    }),
  )

describe("TurnCall", () => {
  it.effect("loses no event when it is cancelled while the client does not read", () =>
    Effect.gen(function* () {
      const hanging = [Script.reply(Script.bareDeltas("a", "b"), Script.hang)]
      assert.deepStrictEqual((yield* cancelWhileBlocked(hanging, true)).events, [
        "session_configured",
        "task_started",
        "agent_message_delta",
        "agent_message_delta",
        "agent_message",
        "turn_aborted",
      ])
    }),
  )

  it.effect("L5 a turn that ended before its cancellation still shows its terminal event", () =>
    Effect.gen(function* () {
      const answered = [Script.reply(Script.text("a"))]
      assert.deepStrictEqual((yield* cancelWhileBlocked(answered, true)).events, [
        "session_configured",
        "task_started",
        "agent_message_delta",
        "agent_message",
        "token_count",
        "task_complete",
      ])
    }),
  )

  it.effect(
    "L14 a client that never reads again delays neither the end of the turn nor of the call",
    () =>
      Effect.gen(function* () {
        const hanging = [Script.reply(Script.bareDeltas("a"), Script.hang)]
        const { events, state } = yield* cancelWhileBlocked(hanging, false)
        assert.deepStrictEqual([events, state.turn], [[], undefined])
      }),
  )

  it.effect(
    "an error that does not end the turn, such as that of a tool server, does not replace the answer",
    () => {
      const emit = (context: ToolContext) =>
        context.emit({ type: "error", message: "MCP client for `a` failed to start: no" })
      return withServer({ script: oneCall, tools: failing(emit) }, (server) =>
        Effect.gen(function* () {
          const answer = yield* server.call(1, "codex", { prompt: "x" })
          assert.deepStrictEqual([textOf(answer), callResult(answer).isError], ["done", undefined])
          assert.include(typesOf(server.messages, 1), "error")
        }),
      )
    },
  )
})
