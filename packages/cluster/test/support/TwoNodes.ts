/** Two nodes in memory over one store, with scripted models. */
import { Broadcasts } from "@colloquy/core/Broadcasts"
import { ConversationManager } from "@colloquy/core/ConversationManager"
import { ConversationStore } from "@colloquy/core/ConversationStore"
import { HeldConversations } from "@colloquy/core/HeldConversations"
import { IdGenerator } from "@colloquy/core/IdGenerator"
import { QuotaPlaces } from "@colloquy/core/QuotaPlaces"
import { ModelClient, type ModelEvent } from "@colloquy/core/ModelClient"
import { MemoryStore } from "@colloquy/core/store/MemoryStore"
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import { isEphemeral } from "@colloquy/protocol/EventMsg"
import type { ConversationId } from "@colloquy/protocol/Ids"
import type { Op } from "@colloquy/protocol/Op"
import type { Delivery } from "@colloquy/core/listeners/Delivery"
import type { Listener } from "@colloquy/core/listeners/Listener"
import { MemoryPlaces } from "@colloquy/testing/MemoryPlaces"
import { scriptedResolver, scriptedSettings } from "@colloquy/testing/ScriptedSettings"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as ClusterManager from "../../src/ClusterManager.ts"
import { MemoryNodes } from "../../src/MemoryNodes.ts"
import { NodeUnreachable } from "../../src/NodeErrors.ts"
import { Nodes } from "../../src/Nodes.ts"
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
  /** Default: one of its own. */
  readonly store?: MemoryStore
  /** Called for each call of a node to another one. */
  readonly onCall?: (operation: string) => void
  /** What becomes of a call to another node. Default: it arrives, and its response too. */
  readonly onWay?: OnWay
  /** How long a node takes to leave, from which time on it owns nothing. */
  readonly leavesFor?: Duration.Input
}

/** @param arrive carries the call out on the node that owns the conversation then */
export type OnWay = (
  operation: string,
  id: ConversationId,
  arrive: Effect.Effect<unknown, unknown>,
) => Effect.Effect<unknown, unknown>

/** Nodes that take a time to leave, and whose calls are noted. */
const observed = (
  leavesFor: Duration.Input,
  onCall: (operation: string) => void,
  onWay: OnWay | undefined,
) =>
  Layer.effect(
    Nodes,
    Effect.map(Nodes, (nodes) => {
      let hasLeft = false
      return {
        ...nodes,
        calls: (id) => {
          const left = new NodeUnreachable({ id, reason: "this node has left the cluster" })
          const calls = Object.entries(nodes.calls(id)).map(([operation, call]) => [
            operation,
            (payload: never) => {
              onCall(operation)
              const response = call(payload)
              if (hasLeft) return Effect.isEffect(response) ? Effect.fail(left) : Stream.fail(left)
              return onWay === undefined || !Effect.isEffect(response)
                ? response
                : onWay(operation, id, response)
            },
          ])
          return Object.fromEntries(calls) as ReturnType<typeof nodes.calls>
        },
        leave: Effect.suspend(() => {
          hasLeft = true
          return Effect.andThen(nodes.leave, Effect.sleep(leavesFor))
        }),
      }
    }),
  )

/** A cluster without nodes. `join` adds one until its `close`. */
export const world = ({
  leavesFor = 0,
  onCall = () => {},
  onWay,
  seconds = 0,
  store = new MemoryStore(),
  workspaces,
  ...options
}: WorldOptions = {}) => {
  const nodes = new MemoryNodes()
  const places = new MemoryPlaces(store)
  const join = Effect.fnUntraced(function* (name: string) {
    const scope = yield* Scope.make()
    yield* TestClock.adjust(0)
    const layer = ClusterManager.layer(options).pipe(
      Layer.provide(observed(leavesFor, onCall, onWay)),
      Layer.provide(nodes.join(name)),
      Layer.provide(Layer.succeed(QuotaPlaces, places.of(name))),
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
      held: Context.get(services, HeldConversations),
      broadcasts: Context.get(services, Broadcasts),
      close: Scope.close(scope, Exit.void),
    }
  })
  return { nodes, places, store, join }
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
