import type { Conversation } from "@colloquy/core/Conversation"
import type { Delivery } from "@colloquy/core/listeners/Delivery"
import { ConversationId } from "@colloquy/protocol/Ids"
import { notification } from "@colloquy/protocol/Method"
import { assert, describe, it } from "@effect/vitest"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import {
  notificationOf,
  type SubscriptionPresenter,
} from "../../../src/app/subscriptions/SubscriptionPresenter.ts"
import { Subscriptions } from "../../../src/app/subscriptions/Subscriptions.ts"
import { AnswerGate } from "../../../src/jsonrpc/AnswerGate.ts"
import type { PeerControl } from "../../../src/jsonrpc/Caller.ts"
import { refOf } from "../../../src/questions/Question.ts"
import { denialOp } from "../../../src/questions/QuestionAnswer.ts"
import * as QuestionBroker from "../../../src/questions/QuestionBroker.ts"

const info = { params: Schema.Unknown, since: "colloquy 0.1", doc: "A notification of this test." }
const ThreadEvent = notification("thread/event", info)
const ThreadPlace = notification("thread/place", info)

/** A dialect for this test: it sends types of events and numbers, and denies every question. */
const presenter: SubscriptionPresenter = {
  event: (_, { event: { msg } }) => [notificationOf(ThreadEvent, msg.type)],
  lagged: (_, from) => notificationOf(ThreadPlace, `lagged ${from}`),
  synced: (_, seq) => notificationOf(ThreadPlace, `synced ${seq}`),
  closed: () => notificationOf(ThreadPlace, "closed"),
  present: () => (question) => Effect.succeed(Result.succeed(denialOp(refOf(question)))),
}

const settle = Effect.forEach(Array.from({ length: 50 }), () => Effect.yieldNow, { discard: true })

const asks = {
  seq: 1,
  id: "0",
  msg: { type: "exec_approval_request", call_id: "c", command: ["ls"], cwd: "/" },
} as const

describe("SubscriptionPresenter", () => {
  it.effect("another dialect gives listeners its own notifications and questions", () =>
    Effect.gen(function* () {
      const sent: Array<unknown> = []
      const answers: Array<unknown> = []
      const deliveries = yield* Queue.unbounded<Delivery, Cause.Done>()
      const conversation: Pick<Conversation, "id" | "attach" | "submit" | "state" | "loaded"> = {
        id: ConversationId.make("00000000-0000-7000-8000-000000000000"),
        attach: () => Effect.succeed({ take: Queue.takeAll(deliveries) }),
        submit: (op) =>
          Effect.sync(() => {
            answers.push(op)
            return { id: "1", disposition: "none" as const }
          }),
        state: Effect.never,
        loaded: Effect.never,
      }
      const gate = new AnswerGate()
      const peer: PeerControl = {
        notify: (_, params) => Effect.sync(() => sent.push(params)),
        request: () => Effect.never,
        cancel: () => Effect.void,
        passed: (key) => gate.passed(key),
      }
      const subscriptions = new Subscriptions({
        scope: yield* Effect.scope,
        presenter,
        broker: yield* QuestionBroker.make(),
        answers: () => "all",
        cursor: {
          start: () => {},
          from: () => undefined,
          attached: () => {},
          detached: () => {},
          delivered: () => {},
          rateLimits: () => undefined,
          limits: () => false,
        },
        broadcast: {
          join: () => Effect.void,
          authChanged: () => Effect.void,
          limitsChanged: () => Effect.void,
          size: () => 0,
        },
        isClosing: Effect.succeed(false),
      })
      const { start } = yield* Effect.orDie(
        subscriptions.add({
          conversation: {
            ...conversation,
            runTurn: () => Effect.never,
            cancel: () => Effect.void,
            events: () => Stream.never,
          },
          peer,
          raw: false,
          after: -1,
        }),
      )
      yield* start
      yield* Queue.offerAll(deliveries, [
        {
          _tag: "Event",
          atMs: 0,
          event: { seq: 0, id: "0", msg: { type: "task_started", model_context_window: null } },
        },
        { _tag: "Event", atMs: 0, event: asks },
        { _tag: "Synced", seq: 2 },
        { _tag: "Ask", event: asks },
      ])
      yield* settle
      yield* Queue.end(deliveries)
      yield* settle
      assert.deepStrictEqual(sent, [
        ["task_started", "exec_approval_request"],
        ["synced 2"],
        ["closed"],
      ])
      assert.deepStrictEqual(answers, [
        { type: "exec_approval", id: "c", question: 1, decision: "denied" },
      ])
    }),
  )
})
