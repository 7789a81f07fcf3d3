/**
 * The process that runs on a node at a time: the store, the manager and what they need. It can be stopped and continued,
 * killed, or drained.
 */
import { ConversationManager } from "@colloquy/core/ConversationManager"
import { ConversationStore } from "@colloquy/core/ConversationStore"
import { IdGenerator } from "@colloquy/core/IdGenerator"
import * as Conversations from "@colloquy/core/manager/Conversations"
import { ModelClient } from "@colloquy/core/ModelClient"
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import * as SqlStore from "@colloquy/store-sql/SqlStore"
import { scriptedResolver } from "@colloquy/testing/ScriptedSettings"
import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import type { Database } from "./Database.ts"
import * as Link from "./Link.ts"
import { type Ground, Machine } from "./Machine.ts"
import type { Cluster } from "./cluster/Cluster.ts"
import type { Peer } from "./cluster/Network.ts"

/** The process of a node does not run, or ended before it answered. */
export class NodeGone extends Data.TaggedError("NodeGone")<{ readonly node: string }> {}

/** What all nodes of a run share. */
export interface Surroundings {
  readonly seed: number
  readonly ground: Ground
  /** The context of the simulation, without its scheduler and clock that of every process. */
  readonly context: Context.Context<never>
  readonly database: Database
  readonly settings: ConversationSettings
  /** The provider of the model, which counts the requests of all nodes. */
  readonly model: ModelClient["Service"]
  readonly tools: ToolRuntime["Service"]
  /** Present where the nodes form a cluster: each then runs the manager of one. */
  readonly cluster: Cluster | undefined
}

/** Conversations leave memory soon, so that they move between nodes. */
const idleTimeToLive = Duration.seconds(3)

const parts = ({ database, ground, model, settings, tools }: Surroundings) => ({
  store: (machine: Machine, link: Link.Link, process: string) =>
    SqlStore.layer().pipe(Layer.provide(Link.layer({ ground, machine, database, link }, process))),
  ports: Layer.mergeAll(
    IdGenerator.layer,
    scriptedResolver(settings),
    Layer.succeed(ModelClient, model),
    Layer.succeed(ToolRuntime, tools),
  ),
})

/** One process of a node. */
export class Process {
  readonly machine: Machine
  private readonly name: string
  private readonly context: Context.Context<never>
  private readonly surroundings: Surroundings
  private readonly services =
    Deferred.makeUnsafe<Context.Context<ConversationManager | ConversationStore>>()
  private readonly scope = Scope.makeUnsafe()
  /** What to do with the calls that have no answer when the process ends. */
  private readonly pending = new Set<() => void>()
  /** The process as the others of a cluster see it. */
  private readonly peer: Peer

  /** @param node name of the node, and of the process */
  constructor(
    { node, name }: { readonly node: string; readonly name: string },
    skewMs: number,
    link: Link.Link,
    surroundings: Surroundings,
  ) {
    const { cluster, database } = surroundings
    this.name = name
    this.surroundings = surroundings
    this.machine = new Machine(surroundings.ground, skewMs)
    this.peer = {
      node,
      machine: this.machine,
      fork: (effect) => this.fork(effect),
      calls: undefined,
      owns: () => false,
      exchanges: new Set(),
      opened: new Set(),
    }
    cluster?.network.join(this.peer)
    const seeded = Effect.runSyncWith(surroundings.context)(
      Random.withSeed(Effect.context(), `${surroundings.seed} ${name}`),
    )
    this.context = this.machine.within(seeded)
    const { ports, store } = parts(surroundings)
    const manager =
      cluster === undefined
        ? Conversations.layerWith({ idleTimeToLive })
        : cluster.manager(this.peer, { link, database }, { idleTimeToLive })
    const stored = Layer.provideMerge(
      Layer.provide(manager, ports),
      store(this.machine, link, name),
    )
    // A database that is down at the start is tried again.
    const start = Layer.buildWithScope(stored, this.scope).pipe(
      Effect.retry(Schedule.spaced(Duration.seconds(1))),
      Effect.flatMap((services) => Deferred.succeed(this.services, services)),
    )
    this.machine.run(() => this.fork(start))
  }

  /** Runs an effect in the process. Fails when the process ends before. */
  call<A, E>(
    use: (
      services: Context.Context<ConversationManager | ConversationStore>,
    ) => Effect.Effect<A, E>,
  ): Effect.Effect<A, E | NodeGone> {
    return Effect.callback<A, E | NodeGone>((resume) => {
      const gone = () => resume(Effect.fail(new NodeGone({ node: this.name })))
      if (this.machine.isDead) return gone()
      let fiber: Fiber.Fiber<A, E> | undefined
      const dispatcher = this.surroundings.ground.scheduler.makeDispatcher()
      this.pending.add(gone)
      this.machine.run(() => {
        fiber = this.fork(Effect.flatMap(Deferred.await(this.services), use))
        fiber.addObserver((exit) => {
          if (this.pending.delete(gone)) dispatcher.scheduleTask(() => resume(exit), 0)
        })
      })
      return Effect.sync(() => {
        this.pending.delete(gone)
        this.machine.run(() => fiber?.interruptUnsafe())
      })
    })
  }

  /** Closes the layers of the process, then ends it. */
  get drain(): Effect.Effect<void> {
    return this.call(() => Scope.close(this.scope, Exit.void)).pipe(
      // Killed while it drained: there is nothing left to close.
      Effect.catchTag("NodeGone", () => Effect.void),
      Effect.andThen(Effect.sync(() => this.kill())),
    )
  }

  kill(): void {
    this.machine.kill()
    this.surroundings.database.endAll(this.name)
    this.surroundings.cluster?.network.ended(this.peer)
    const { pending } = this
    for (const gone of pending) gone()
    pending.clear()
  }

  private fork<A, E>(effect: Effect.Effect<A, E>): Fiber.Fiber<A, E> {
    return Effect.runForkWith(this.context)(effect)
  }
}
