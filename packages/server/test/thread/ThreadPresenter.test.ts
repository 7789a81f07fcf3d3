/** The notifications of a thread. */
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { SentRequests } from "../../src/thread/ThreadQuestions.ts"
import { ThreadPresenter } from "../../src/thread/subscriptions/ThreadPresenter.ts"
import { at } from "../support/Threading.ts"

const msgs: ReadonlyArray<readonly [EventMsg, number]> = [
  [{ type: "task_started", model_context_window: null }, 5000],
  [{ type: "agent_message_delta", delta: "Hel" }, 5000],
  [{ type: "agent_message", message: "Hello" }, 7000],
  [{ type: "task_complete", last_agent_message: "Hello" }, 9000],
]

it.effect("items and turns have the times of their records, whenever they are delivered", () =>
  Effect.gen(function* () {
    const presenter = new ThreadPresenter({
      sent: new SentRequests(),
      onStatus: () => {},
      onTakenOver: () => {},
    })
    const to = { conversationId: "c", subscriptionId: "s" }
    const shown: Array<readonly [string, unknown]> = []
    for (const [seq, [msg, atMs]] of msgs.entries()) {
      const delivery = { _tag: "Event", event: { seq, id: "t", msg }, atMs } as const
      const sent = presenter.event(to, delivery, { raw: false, all: true })
      for (const { method, params } of Effect.isEffect(sent) ? yield* sent : sent) {
        shown.push([method.key, params])
      }
    }
    const of = (name: string) => shown.find(([key]) => key.endsWith(name))?.[1]
    assert.strictEqual(at(of("item/started"), "startedAtMs"), 5000)
    assert.deepStrictEqual(
      [
        at(of("item/completed"), "item", "startedAtMs"),
        at(of("item/completed"), "item", "completedAtMs"),
      ],
      [5000, 7000],
    )
    assert.deepStrictEqual(
      [
        at(of("turn/completed"), "turn", "completedAt"),
        at(of("turn/completed"), "turn", "durationMs"),
      ],
      [9, 4000],
    )
  }),
)
