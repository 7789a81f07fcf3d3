/** Two nodes in memory over one store, with scripted models. */
import { ConversationManager } from "@colloquy/core/ConversationManager"
import { ConversationStore } from "@colloquy/core/ConversationStore"
import { IdGenerator } from "@colloquy/core/IdGenerator"
import { ModelClient, type ModelEvent } from "@colloquy/core/ModelClient"
import { MemoryStore } from "@colloquy/core/store/MemoryStore"
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import { isEphemeral } from "@colloquy/protocol/EventMsg"
import type { Op } from "@colloquy/protocol/Op"
import type { Delivery } from "@colloquy/core/listeners/Delivery"
import type { Listener } from "@colloquy/core/listeners/Listener"
import { scriptedResolver, scriptedSettings } from "@colloquy/testing/ScriptedSettings"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as ClusterManager from "../../src/ClusterManager.ts"
import { MemoryNodes } from "../../src/MemoryNodes.ts"
import { Workspaces } from "../../src/Workspaces.ts"

export const settings = scriptedSettings()

export const says = (text: string): Op => ({ type: "user_input", items: [{ type: "text", text }] })

const answer: ReadonlyArray<ModelEvent> = [
  { _tag: "TextDelta", delta: "done" },
  {
    _tag: "ItemDone",
    item: { type: "message", role: "assistant", content: [{ type: "output_text", text: "done" }] },
  },
  { _tag: "Completed" },
]

/** A model that answers at once, or after a time of the virtual clock. */
const model = (seconds: number) =>
  Layer.succeed(ModelClient, {
    stream: () =>
      Stream.unwrap(Effect.as(Effect.sleep(seconds * 1000), Stream.fromIterable(answer))),
  })

/** A tool that asks before it does anything. */
const tools = ToolRuntime.simple({
  specs: () => [],
  run: () => Effect.succeed("ran"),
})

export interface WorldOptions extends ClusterManager.ClusterManagerOptions {
  /** How long the model takes. */
  readonly seconds?: number
  readonly workspaces?: Layer.Layer<Workspaces>
}

/** A cluster without nodes. `join` adds one until its `close`. */
export const world = ({ seconds = 0, workspaces, ...options }: WorldOptions = {}) => {
  const nodes = new MemoryNodes()
  const store = new MemoryStore()
  const join = Effect.fnUntraced(function* (name: string) {
    const scope = yield* Scope.make()
    yield* TestClock.adjust(0)
    const layer = ClusterManager.layer(options).pipe(
      Layer.provide(nodes.join(name)),
      Layer.provide(workspaces ?? Workspaces.layerAll),
      Layer.provide(IdGenerator.layer),
      Layer.provide(Layer.succeed(ConversationStore, store)),
      Layer.provide(scriptedResolver(settings)),
      Layer.provide(Layer.succeed(ToolRuntime, tools)),
      Layer.provide(model(seconds)),
    )
    const services = yield* Layer.buildWithScope(Layer.fresh(layer), scope)
    return {
      manager: Context.get(services, ConversationManager),
      close: Scope.close(scope, Exit.void),
    }
  })
  return { nodes, store, join }
}

/** Collects what the listener takes, in a fiber of its own. */
export const collected = Effect.fnUntraced(function* (listener: Listener) {
  const all: Array<Delivery> = []
  yield* Effect.forkScoped(Effect.forever(Effect.map(listener.take, (some) => all.push(...some))), {
    startImmediately: true,
  })
  return all
})

export const seqsOf = (all: ReadonlyArray<Delivery>): ReadonlyArray<number> =>
  all.flatMap((one) => (one._tag === "Event" && !isEphemeral(one.event.msg) ? [one.event.seq] : []))

export const typesOf = (all: ReadonlyArray<Delivery>): ReadonlyArray<string> =>
  all.flatMap((one) => (one._tag === "Event" ? [one.event.msg.type] : []))

export const elapse = (n: number) => TestClock.adjust(`${n} seconds`)
