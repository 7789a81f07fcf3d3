/**
 * The conversations of a cluster: the layer of the port `ConversationManager` that dialects, HTTP and clients get instead of
 * that of one process, unaware.
 *
 * ```
 *   caller ──▶ ClusterManager ── this node owns it ──────────────▶ manager of this process ──▶ store
 *                    │                                                     ▲
 *                    └── another node owns it ──▶ Nodes ──▶ that node ─────┘
 * ```
 *
 * Lists, metadata, history and names come from the store on every node. New conversations are created on the node that is
 * asked, with an id which that node owns. Whoever owns a conversation, only the lease in the store lets a node append to its
 * log (L16): while two nodes disagree, the one without the lease answers `Elsewhere` and the caller asks again.
 */
import { Broadcasts } from "@colloquy/core/Broadcasts"
import { NoSuchConversation } from "@colloquy/core/ConversationErrors"
import { type Access, ConversationManager } from "@colloquy/core/ConversationManager"
import { SettingsResolver } from "@colloquy/core/ConversationSettings"
import { ConversationStore } from "@colloquy/core/ConversationStore"
import { HeldConversations } from "@colloquy/core/HeldConversations"
import { IdGenerator } from "@colloquy/core/IdGenerator"
import * as Conversations from "@colloquy/core/manager/Conversations"
import type { ModelClient } from "@colloquy/core/ModelClient"
import { withinStoreTimeout } from "@colloquy/core/store/StoreTimeout"
import type { ToolRuntime } from "@colloquy/core/ToolRuntime"
import { defined } from "@colloquy/protocol/Defined"
import { type ConversationId, parseConversationId } from "@colloquy/protocol/Ids"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ClusterConversation, type ConversationParts } from "./internal/ClusterConversation.ts"
import { endConversation } from "./internal/EndConversation.ts"
import { EphemeralCalls } from "./internal/EphemeralCalls.ts"
import { historyElsewhere, metadataElsewhere } from "./internal/EphemeralElsewhere.ts"
import { HandOver } from "./internal/HandOver.ts"
import { heldElsewhere } from "./internal/Moving.ts"
import { NodeEnd } from "./internal/NodeEnd.ts"
import { noticeBroadcasts } from "./internal/NoticeBroadcasts.ts"
import { copyId, ownedIds } from "./internal/OwnedIds.ts"
import { ownerCalls } from "./internal/OwnerCalls.ts"
import { Routing } from "./internal/Routing.ts"
import { Nodes } from "./Nodes.ts"
import { Notices } from "./Notices.ts"
import { Workspaces } from "./Workspaces.ts"

/** Options of a node. */
export interface ClusterManagerOptions {
  /** Limits of the conversations that this node has in memory. */
  readonly conversations?: Conversations.ConversationsOptions
  /**
   * How long a turn may continue once its node leaves or its conversation belongs to another one. Default 25 seconds: with
   * what else a shutdown takes it is less than the 30 seconds that Kubernetes gives.
   */
  readonly drainWithin?: Duration.Input
  /**
   * How long an operation is repeated while its conversation moves. Default: five seconds more than a turn may keep it on
   * its node, and at least 30.
   */
  readonly patience?: Duration.Input
}

type Service = ConversationManager["Service"]

const drainWithinOf = ({ drainWithin }: ClusterManagerOptions): Duration.Duration =>
  Duration.fromInputUnsafe(drainWithin ?? Duration.seconds(25))

const patienceOf = (options: ClusterManagerOptions): Duration.Duration =>
  options.patience === undefined
    ? Duration.max(Duration.seconds(30), Duration.sum(drainWithinOf(options), Duration.seconds(5)))
    : Duration.fromInputUnsafe(options.patience)

const idOf = (id: string): Effect.Effect<ConversationId, NoSuchConversation> => {
  const parsed = parseConversationId(id)
  return "problem" in parsed
    ? Effect.fail(new NoSuchConversation({ id }))
    : Effect.succeed(parsed.id)
}

interface ManagerParts extends ConversationParts {
  readonly local: Service
  /** The ephemeral conversations of this node. */
  readonly ephemeral: Set<ConversationId>
  /** An id for a copy of this conversation. */
  readonly copyId: (id: ConversationId) => Effect.Effect<ConversationId>
}

class ClusterManager implements Service {
  private readonly parts: ManagerParts
  private readonly notices: Notices["Service"]
  private readonly end: Effect.Effect<void>

  constructor(parts: ManagerParts, notices: Notices["Service"], end: Effect.Effect<void>) {
    this.parts = parts
    this.notices = notices
    this.end = end
  }

  readonly create: Service["create"] = (settings, access) =>
    Effect.map(this.parts.local.create(settings, access), ({ id }) => {
      if (settings.ephemeral === true) this.parts.ephemeral.add(id)
      return this.conversation(id, access)
    })

  readonly createOnSubmit: Service["createOnSubmit"] = (settings, access) =>
    Effect.map(this.parts.local.createOnSubmit(settings, access), (uncreated) => {
      if (settings.ephemeral === true) this.parts.ephemeral.add(uncreated.id)
      return new ClusterConversation(uncreated.id, access, this.parts, uncreated)
    })

  readonly get: Service["get"] = (name, access) =>
    Effect.flatMap(idOf(name), (id) =>
      Effect.as(
        this.parts.routing.call(id, ({ calls }) =>
          // It was found, so that the caller may use it: each operation waits for the owner itself.
          Effect.catchIf(
            calls.Load({ id, ...defined({ access }) }),
            heldElsewhere,
            () => Effect.void,
          ),
        ),
        this.conversation(id, access),
      ),
    )

  readonly refer: Service["refer"] = (name, access) =>
    Effect.map(idOf(name), (id) => this.conversation(id, access))

  readonly open: Service["open"] = (path, access) => this.parts.local.open(path, access)

  readonly follow: Service["follow"] = (name, { answers, from }, access) =>
    Effect.flatMap(idOf(name), (id) =>
      this.conversation(id, access).listen({ from: Math.max(0, from), ...defined({ answers }) }),
    )

  readonly stateOf: Service["stateOf"] = (name, access) =>
    Effect.flatMap(idOf(name), (id) => this.conversation(id, access).readState)

  readonly list: Service["list"] = (options) => this.parts.local.list(options)

  readonly metadata: Service["metadata"] = (address, access) =>
    Effect.catchTag(this.parts.local.metadata(address, access), "NoSuchConversation", (error) =>
      "id" in address
        ? metadataElsewhere(this.parts.routing, address.id, access)
        : Effect.fail(error),
    )

  readonly history: Service["history"] = (name, access, from = 0) =>
    Effect.catchTag(this.parts.local.history(name, access, from), "NoSuchConversation", () =>
      Effect.flatMap(idOf(name), (id) => historyElsewhere(this.parts.routing, id, access, from)),
    )

  readonly remove: Service["remove"] = (id, access) =>
    Effect.flatMap(idOf(id), (one) => endConversation(this.parts, "Remove", one, access))

  readonly archive: Service["archive"] = (id, access) =>
    Effect.flatMap(idOf(id), (one) => endConversation(this.parts, "Archive", one, access))

  readonly unarchive: Service["unarchive"] = (id, access) =>
    Effect.flatMap(idOf(id), (one) => endConversation(this.parts, "Unarchive", one, access))

  readonly rename: Service["rename"] = (id, name, access) =>
    this.parts.local.rename(id, name, access)

  readonly fork: Service["fork"] = (name, rule, access, { id: given, ...options } = {}) =>
    Effect.gen({ self: this }, function* () {
      const id = yield* idOf(name)
      const copy = given ?? (yield* this.parts.copyId(id))
      const { id: forked } = yield* this.parts.routing.call(id, ({ calls }) =>
        calls.Fork({ id, rule, copy, ...options, ...defined({ access }) }),
      )
      return this.conversation(forked, access)
    })

  readonly watch: Service["watch"] = (listener) =>
    Effect.andThen(
      this.parts.local.watch(listener),
      this.notices.watch((notice) => {
        if (notice._tag === "ListChanged") listener(notice.owner)
      }),
    )

  get shutdown(): Service["shutdown"] {
    return this.end
  }

  get isClosed(): Service["isClosed"] {
    return this.parts.local.isClosed
  }

  private conversation(id: ConversationId, access: Access | undefined): ClusterConversation {
    return new ClusterConversation(id, access, this.parts)
  }
}

type Needs =
  | Nodes
  | Notices
  | Workspaces
  | ModelClient
  | ToolRuntime
  | IdGenerator
  | ConversationStore
  | SettingsResolver

/** The manager of this process, which creates conversations that this node owns. */
const localLayer = (options: Conversations.ConversationsOptions) =>
  Layer.provide(
    Conversations.layerWith(options),
    Layer.effect(
      IdGenerator,
      Effect.gen(function* () {
        const { owns } = yield* Nodes
        return ownedIds(yield* IdGenerator, owns)
      }),
    ),
  )

/** The conversations of this node, and how they are given up. */
const makeLocal = Effect.fnUntraced(function* (options: ClusterManagerOptions) {
  const nodes = yield* Nodes
  const context = yield* Layer.build(localLayer(options.conversations ?? {}))
  const held = Context.get(context, HeldConversations)
  const handOver = new HandOver({
    held,
    owns: (id) => nodes.owns(id),
    drainWithin: drainWithinOf(options),
  })
  return { nodes, local: Context.get(context, ConversationManager), held, handOver }
})

/** Sends notices of changes of this node's list, and gives up what other nodes need. Until the scope closes. */
const exchangeNotices = Effect.fnUntraced(function* (
  notices: Notices["Service"],
  local: Service,
  handOver: HandOver,
) {
  const run = Effect.runForkWith(yield* Effect.context())
  yield* local.watch((owner) => run(notices.send({ _tag: "ListChanged", owner })))
  yield* notices.watch((notice) => {
    if (notice._tag === "Needed") run(handOver.giveUp(notice.id))
  })
})

const partsOf = Effect.fnUntraced(function* (
  routing: Routing,
  local: Service,
  { recordedState }: HeldConversations["Service"],
  ephemeral: Set<ConversationId>,
  closed: Effect.Effect<void>,
): Effect.fn.Return<Omit<ManagerParts, "copyId">, never, ConversationStore | SettingsResolver> {
  const store = yield* ConversationStore
  const resolver = yield* SettingsResolver
  const positionOf: ConversationParts["positionOf"] = (id, seq) =>
    withinStoreTimeout("read", store.positionOf(id, seq))
  const log = { store, metadata: local.metadata, closed }
  return { routing, local, ephemeral, recordedState, resolver, positionOf, log }
})

const make = Effect.fnUntraced(function* (options: ClusterManagerOptions) {
  const notices = yield* Notices
  const { handOver, held, local, nodes } = yield* makeLocal(options)
  const ephemeral = new Set<ConversationId>()
  const own = ownerCalls({
    manager: local,
    workspaces: yield* Workspaces,
    ephemeral,
    owns: (id) => nodes.owns(id),
    need: (id) => notices.send({ _tag: "Needed", id }),
  })
  const calls = new EphemeralCalls(ephemeral)
  const ending = new NodeEnd()
  const routing = new Routing({
    nodes,
    own,
    patience: patienceOf(options),
    isClosed: () => ending.isClosed,
    isHere: (id) => ephemeral.has(id) || handOver.has(id),
    hasLeft: () => ending.hasLeft,
  })
  const end = yield* Effect.cached(ending.run({ nodes, handOver, local, calls }))
  yield* exchangeNotices(notices, local, handOver)
  yield* nodes.serve(calls.counted(own))
  yield* Effect.forkScoped(handOver.sweep)
  yield* Effect.addFinalizer(() => end)
  const ids = yield* IdGenerator
  const parts: ManagerParts = {
    ...(yield* partsOf(routing, local, held, ephemeral, ending.closed)),
    copyId: (id) => copyId(ids, nodes.sameOwner, id),
  }
  const manager: Service = new ClusterManager(parts, notices, end)
  return Context.make(ConversationManager, manager).pipe(
    Context.add(HeldConversations, held),
    Context.add(Broadcasts, yield* noticeBroadcasts(notices)),
  )
})

/**
 * The manager of a node, the conversations that the node has, and `Broadcasts` to the other nodes. It is shut down with the
 * layer.
 */
export const layer = (
  options: ClusterManagerOptions = {},
): Layer.Layer<ConversationManager | HeldConversations, never, Needs> =>
  Layer.effectContext(make(options))
