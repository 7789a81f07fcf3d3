/**
 * Many conversations of one process, one after the other: each is created, runs one turn and is left, so that it is evicted
 * while later ones run.
 */
import { ConversationManager } from "@colloquy/core/ConversationManager"
import type { ConversationStore } from "@colloquy/core/ConversationStore"
import * as Conversations from "@colloquy/core/manager/Conversations"
import { MemoryStore } from "@colloquy/core/store/MemoryStore"
import { IdGenerator } from "@colloquy/core/IdGenerator"
import { ModelClient, type ModelEvent } from "@colloquy/core/ModelClient"
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import * as NodeStore from "@colloquy/store/node/NodeStore"
import { scriptedResolver } from "@colloquy/testing/ScriptedSettings"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { home } from "../store/Setting.ts"
import { heapBytes, isTurnEnd, readUntil, say, settings } from "./Setting.ts"

/** Sizes of the measurement. */
export interface SequentialSizes {
  readonly conversations: number
  readonly store: "files" | "memory"
}

/** The result. */
export interface SequentialFigure {
  readonly perSecond: number
  /** The slowest of a hundred conversations, in milliseconds. */
  readonly p99Ms: number
  /** Growth of the heap per conversation in bytes, after garbage collection. */
  readonly bytesEach: number
  /** Resident memory of the whole process in bytes, Node included. */
  readonly residentBytes: number
}

/** Conversations that are created first and not counted: they load and compile code. */
const warmUp = 100

const answer: ReadonlyArray<ModelEvent> = [
  {
    _tag: "ItemDone",
    item: { type: "message", role: "assistant", content: [{ type: "output_text", text: "yes" }] },
  },
  { _tag: "Completed" },
]

/** A manager with a model that answers in one message. Evicts idle conversations after this time. */
export const managerOver = (
  store: Layer.Layer<ConversationStore>,
  idleTimeToLive: Duration.Input,
): Layer.Layer<ConversationManager> =>
  Conversations.layerWith({
    maxConversations: Number.MAX_SAFE_INTEGER,
    idleTimeToLive,
  }).pipe(
    Layer.provide([
      Layer.succeed(ModelClient, { stream: () => Stream.fromIterable(answer) }),
      ToolRuntime.layerNone,
      IdGenerator.layer,
      store,
      scriptedResolver(),
    ]),
  )

const one = Effect.fnUntraced(function* (manager: ConversationManager["Service"]) {
  const conversation = yield* manager.create(settings())
  const listener = yield* conversation.attach()
  yield* say(conversation)
  yield* readUntil(listener, isTurnEnd)
}, Effect.scoped)

const measure = Effect.fnUntraced(function* (conversations: number) {
  const manager = yield* ConversationManager
  for (let n = 0; n < warmUp; n++) yield* one(manager)
  yield* Effect.sleep("1 second")
  const before = yield* heapBytes
  const durations = new Float64Array(conversations)
  const startedAtMs = performance.now()
  for (let n = 0; n < conversations; n++) {
    const beganAtMs = performance.now()
    yield* one(manager)
    durations[n] = performance.now() - beganAtMs
  }
  const perSecond = (conversations / (performance.now() - startedAtMs)) * 1000
  yield* Effect.sleep("1 second")
  const residentBytes = process.memoryUsage.rss()
  const p99Ms = durations.toSorted()[Math.floor(conversations * 0.99)] ?? 0
  const bytesEach = ((yield* heapBytes) - before - durations.byteLength) / conversations
  return { perSecond, p99Ms, bytesEach, residentBytes }
})

/** Measures so many conversations. */
export const sequential = (sizes: SequentialSizes): Effect.Effect<SequentialFigure> =>
  Effect.gen(function* () {
    const store =
      sizes.store === "memory" ? MemoryStore.layer : NodeStore.layer({ home: yield* home })
    return yield* Effect.provide(
      measure(sizes.conversations),
      // So short that those of the last seconds do not count as growth.
      managerOver(store, "10 millis"),
    )
  }).pipe(Effect.scoped, Effect.orDie)
