import type { Conversation } from "@colloquy/core/Conversation"
import type { Delivery } from "@colloquy/core/listeners/Delivery"
import { localPrincipal } from "@colloquy/protocol/Connection"
import { ConversationId } from "@colloquy/protocol/Ids"
import { assert, describe, it } from "@effect/vitest"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as AppConnection from "../../src/app/AppConnection.ts"
import { Auth } from "../../src/app/ports/AuthPort.ts"
import { submitInput } from "../../src/app/SubmitInput.ts"
import { AnswerGate } from "../../src/jsonrpc/AnswerGate.ts"
import type { PeerControl } from "../../src/jsonrpc/Caller.ts"
import { listed, withServer } from "../support/Harness.ts"

const settle = Effect.forEach(Array.from({ length: 100 }), () => Effect.yieldNow, { discard: true })

const event: Delivery = {
  _tag: "Event",
  atMs: 0,
  event: { seq: 1, id: "0", msg: { type: "task_started", model_context_window: null } },
}

describe("SubmitInput", () => {
  it.effect("L2 events that arrive before the receipt wait for the response", () =>
    withServer({}, ({ manager, shared }) =>
      Effect.gen(function* () {
        const sent: Array<string> = []
        const deliveries = yield* Queue.unbounded<Delivery, Cause.Done>()
        // Delivers an event of the turn one second before the receipt.
        const conversation: Conversation = {
          id: ConversationId.make("00000000-0000-7000-8000-000000000000"),
          submit: () =>
            Effect.andThen(Queue.offer(deliveries, event), Effect.sleep("1 second")).pipe(
              Effect.as({ id: "0", disposition: "started" } as const),
            ),
          runTurn: () => Effect.die("not called"),
          attach: () => Effect.succeed({ take: Queue.takeAll(deliveries) }),
          events: () => Stream.never,
          cancel: () => Effect.void,
          state: Effect.never,
          loaded: Effect.never,
        }
        const gate = new AnswerGate()
        const peer: PeerControl = {
          notify: (method) =>
            Effect.sync(() => {
              sent.push((method as unknown as { readonly _tag: string })._tag)
            }),
          request: () => Effect.never,
          cancel: () => Effect.void,
          passed: (key) => gate.passed(key),
        }
        const connection = yield* AppConnection.make({
          server: shared,
          principal: localPrincipal,
          auth: Auth.none,
          approvals: () => "camelCase",
          forms: () => false,
          userAgent: "colloquy",
        })
        const { start } = yield* Effect.orDie(
          connection.subscriptions.add({ conversation, peer, raw: false }),
        )
        yield* start
        const request = gate.request()
        const saying = yield* submitInput(
          {
            conversation,
            op: { type: "user_input", items: [] },
            whileRunning: "queue",
            submissionId: undefined,
          },
          request,
        ).pipe(Effect.forkChild({ startImmediately: true }))
        yield* settle
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(yield* Fiber.join(saying), { turnId: "0", disposition: "started" })
        yield* settle
        assert.deepStrictEqual(sent, [])
        yield* request.accepted() ?? Effect.void
        yield* settle
        assert.deepStrictEqual(sent, ["codex/event/task_started"])
        assert.deepStrictEqual(yield* listed(manager), [])
      }),
    ),
  )
})
