/**
 * The heap that one conversation costs after a turn with a call of a tool, as long as it is in memory and after it was
 * evicted. Its log is in files.
 */
import * as Conversations from "@colloquy/core/manager/Conversations"
import { ConversationManager } from "@colloquy/core/ConversationManager"
import { IdGenerator } from "@colloquy/core/IdGenerator"
import { ModelClient, type ModelEvent } from "@colloquy/core/ModelClient"
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import * as NodeStore from "@colloquy/store/node/NodeStore"
import { scriptedResolver } from "@colloquy/testing/ScriptedSettings"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { home } from "../store/Setting.ts"
import { heapBytes, isTurnEnd, readUntil, say, settings } from "./Setting.ts"

/** Sizes of the measurement. */
export interface RetainedSizes {
  readonly conversations: number
  /** Where the conversations are when they are measured. */
  readonly placement: "loaded" | "evicted"
}

/** The result. */
export interface RetainedFigure {
  /** Heap per conversation in bytes, after garbage collection. */
  readonly bytesEach: number
}

/** Conversations that are created first and not counted: they load code, and each call site gets its feedback. */
const warmUp = 200

const callsTool: ReadonlyArray<ModelEvent> = [
  {
    _tag: "ItemDone",
    item: { type: "function_call", name: "look", arguments: "{}", call_id: "call" },
  },
  { _tag: "Completed" },
]

const answers: ReadonlyArray<ModelEvent> = [
  {
    _tag: "ItemDone",
    item: { type: "message", role: "assistant", content: [{ type: "output_text", text: "yes" }] },
  },
  { _tag: "Completed" },
]

/** Calls the tool first and answers when it has the output. */
const model: ModelClient["Service"]["stream"] = ({ input }) =>
  Stream.fromIterable(
    input.some(({ type }) => type === "function_call_output") ? answers : callsTool,
  )

const look = ToolRuntime.simple({
  specs: () => [{ type: "function", name: "look", description: "Looks.", parameters: {} }],
  run: () => Effect.succeed("seen"),
})

const one = Effect.fnUntraced(function* (manager: ConversationManager["Service"]) {
  const conversation = yield* manager.create(settings())
  const listener = yield* conversation.attach()
  yield* say(conversation)
  yield* readUntil(listener, isTurnEnd)
}, Effect.scoped)

const measure = Effect.fnUntraced(function* (conversations: number) {
  const manager = yield* ConversationManager
  const grown = Effect.fnUntraced(function* (count: number) {
    for (let n = 0; n < count; n++) yield* one(manager)
    // Evicts those of the last moment, where conversations are evicted.
    yield* Effect.sleep("1 second")
    return yield* heapBytes
  })
  const before = yield* grown(warmUp)
  return { bytesEach: ((yield* grown(conversations)) - before) / conversations }
})

/** Measures so many conversations. */
export const retained = ({
  conversations,
  placement,
}: RetainedSizes): Effect.Effect<RetainedFigure> =>
  Effect.gen(function* () {
    const layer = Conversations.layerWith({
      maxConversations: Number.MAX_SAFE_INTEGER,
      maxLoaded: Number.MAX_SAFE_INTEGER,
      idleTimeToLive: placement === "evicted" ? "10 millis" : "1 day",
    }).pipe(
      Layer.provide([
        Layer.succeed(ModelClient, { stream: model }),
        Layer.succeed(ToolRuntime, look),
        IdGenerator.layer,
        NodeStore.layer({ home: yield* home }),
        scriptedResolver(),
      ]),
    )
    return yield* Effect.provide(measure(conversations), layer)
  }).pipe(Effect.scoped, Effect.orDie)
