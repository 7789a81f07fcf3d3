/** The setting of every figure of the core: settings, a manager, and scripted models. */
import type { Conversation } from "@colloquy/core/Conversation"
import { ConversationManager } from "@colloquy/core/ConversationManager"
import * as Conversations from "@colloquy/core/manager/Conversations"
import { MemoryStore } from "@colloquy/core/store/MemoryStore"
import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import { IdGenerator } from "@colloquy/core/IdGenerator"
import type { Listener } from "@colloquy/core/listeners/Listener"
import { ModelClient, type ModelEvent } from "@colloquy/core/ModelClient"
import type { Delivery } from "@colloquy/core/listeners/Delivery"
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import { scriptedResolver, scriptedSettings } from "@colloquy/testing/ScriptedSettings"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"

/** Settings with a path of the usual length, because every conversation holds it. */
export const settings = (): ConversationSettings =>
  scriptedSettings({ model: "bench", cwd: "/home/someone/projects/something" })

const noLimits = {
  maxConversations: Number.MAX_SAFE_INTEGER,
  maxLoaded: Number.MAX_SAFE_INTEGER,
  maxTurns: Number.MAX_SAFE_INTEGER,
  // What is measured here are conversations that stay in memory.
  idleTimeToLive: "1 day",
} as const

/** Runs with a manager without a limit of conversations, whose model returns these streams. */
export const withManager = <A>(
  stream: ModelClient["Service"]["stream"],
  use: (manager: ConversationManager["Service"]) => Effect.Effect<A, never, Scope.Scope>,
): Effect.Effect<A> =>
  Effect.flatMap(ConversationManager, use).pipe(
    Effect.scoped,
    Effect.provide(
      Conversations.layerWith(noLimits).pipe(
        Layer.provide([
          Layer.succeed(ModelClient, { stream }),
          ToolRuntime.layerNone,
          IdGenerator.layer,
          MemoryStore.layer,
          scriptedResolver(),
        ]),
      ),
    ),
  )

/** A model that never responds. */
export const silent: ModelClient["Service"]["stream"] = () => Stream.never

const delta: readonly [ModelEvent] = [{ _tag: "TextDelta", delta: "word " }]
const completed: readonly [ModelEvent] = [{ _tag: "Completed" }]

const finished = (deltas: number): readonly [ModelEvent] => [
  {
    _tag: "ItemDone",
    item: {
      type: "message",
      role: "assistant",
      content: [{ type: "output_text", text: "word ".repeat(deltas) }],
    },
  },
]

/** The model's answer as so many deltas, then the finished item, as providers send it; each in an array of its own. */
export const speech = (deltas: number): Stream.Stream<ModelEvent> =>
  Stream.suspend(() => {
    let left = deltas
    return Stream.fromPull(
      Effect.succeed(
        Effect.suspend(() => {
          left--
          if (left >= 0) return Effect.succeed(delta)
          if (left === -1) return Effect.succeed(finished(deltas))
          return left === -2 ? Effect.succeed(completed) : Cause.done()
        }),
      ),
    )
  })

/** Submits one message. */
export const say = (conversation: Conversation): Effect.Effect<void> =>
  Effect.asVoid(
    Effect.orDie(
      conversation.submit({ type: "user_input", items: [{ type: "text", text: "speak" }] }),
    ),
  )

/** Reads until a delivery matches and returns the number of deltas. */
export const readUntil = (
  listener: Listener,
  isLast: (delivery: Delivery) => boolean,
): Effect.Effect<number> => {
  let count = 0
  const next: Effect.Effect<number> = Effect.flatMap(Effect.orDie(listener.take), (deliveries) => {
    let last = false
    for (const delivery of deliveries) {
      if (delivery._tag === "Event" && "delta" in delivery.event.msg) count++
      if (isLast(delivery)) last = true
    }
    return last ? Effect.succeed(count) : next
  })
  return next
}

/** True for the terminal event of a turn. */
export const isTurnEnd = (delivery: Delivery): boolean =>
  delivery._tag === "Event" && delivery.event.msg.type === "task_complete"

/** Bytes on the heap after garbage collection. The process must run with `--expose-gc`. */
export const heapBytes: Effect.Effect<number> = Effect.promise(async () => {
  // Twice, with a turn of the event loop between, which finalizers and weak references need.
  for (let round = 0; round < 2; round++) {
    globalThis.gc?.()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
})
