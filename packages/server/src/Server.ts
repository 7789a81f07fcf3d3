/**
 * What outlives a connection and serves all of them: the conversations by principal, the tasks, the seal of what clients keep,
 * the features, and the state that the connections of one dialect share. `McpServer.serve` and `AppServer.serve` attach a
 * connection to it.
 *
 *     Connection ── serve ──> Server ──> ConversationManager
 *     Connection ── serve ──┘   │  └──> Tasks, Sealer, SettingsResolver
 *                               └─────> shared state of each dialect: streams, detached turns, delivery cursors, ...
 *
 * Opens no socket and knows no method. What it holds ends with its layer.
 */
import { Broadcasts } from "@colloquy/core/Broadcasts"
import { ConversationManager } from "@colloquy/core/ConversationManager"
import { SettingsResolver } from "@colloquy/core/ConversationSettings"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { conversationsOf, type ConversationsView } from "./ConversationsView.ts"
import type { Features } from "./features/Features.ts"
import type { PromptFiles } from "./features/PromptFiles.ts"
import { ownerOf, principalOf } from "./internal/Owners.ts"
import { Sealer } from "./Sealer.ts"
import { Tasks } from "./tasks/Tasks.ts"
import { Workspace, type Workspaces } from "./Workspace.ts"

/**
 * State that all connections of one server share and that only one dialect knows. The server owns the values; a dialect
 * defines them beside the code that uses them, so that nothing of a dialect is loaded before a client speaks it.
 */
export interface SharedState<A> {
  /**
   * Creates the value, once per server, when it is first used. What it acquires is released with the server. An
   * interruption of the caller that happens to be first does not interrupt it.
   */
  readonly make: (server: Server["Service"]) => Effect.Effect<A, never, Scope.Scope>
}

/** What an embedding program adds to a server. */
export interface ServerOptions {
  /** Tools, resources and prompts beside the server's own; what is added to it later is there at once. */
  readonly features?: Features
  /** Where prompts are kept as files; they are read when a client requests prompts. */
  readonly prompts?: PromptFiles
  /** The directories that principals cannot leave. Default: every principal may work everywhere. */
  readonly workspaces?: Workspaces
}

/** `Broadcasts`, by principals. */
export interface ServerBroadcasts {
  /** Sends a text that concerns this principal to the other processes. Returns at once. */
  readonly send: (principal: string, text: string) => void
  /** Calls `listener`, which returns at once, for each text of another process, until the scope closes. */
  readonly watch: (
    listener: (principal: string, text: string) => void,
  ) => Effect.Effect<void, never, Scope.Scope>
}

/** The server that all connections share. */
export class Server extends Context.Service<
  Server,
  {
    /** The conversations that a principal may see and use. */
    readonly conversations: (principal: string) => ConversationsView["Service"]
    /**
     * Calls the listener after each change of the list of conversations of a principal, until the scope ends. It must
     * return at once.
     */
    readonly watchConversations: (
      listener: (principal: string) => void,
    ) => Effect.Effect<void, never, Scope.Scope>
    /** Texts to and from the other processes that serve the same conversations, if there can be any, by principal. */
    readonly broadcasts: ServerBroadcasts | undefined
    /** True once the manager closes: all conversations end then, and their listeners with them. */
    readonly isClosing: Effect.Effect<boolean>
    /**
     * Ends every conversation of every principal: their turns are aborted, and listeners get the last event. Resolves when
     * the slowest turn has stopped; see `ConversationManager.shutdown`.
     */
    readonly shutdown: Effect.Effect<void>
    /** Makes the settings of new conversations of a principal. */
    readonly settings: (principal: string) => SettingsResolver["Service"]
    /** Where the conversations of a principal may work; undefined for a server without workspace roots. */
    readonly workspace: (principal: string) => Workspace | undefined
    /** The tasks of all connections; each of its methods takes the principal that calls. */
    readonly tasks: Tasks["Service"]
    /** Seals what clients keep: places in lists and the state of calls. */
    readonly sealer: Sealer["Service"]
    /** The features of the embedding program, if any. */
    readonly features: Features | undefined
    /** The prompts that are kept as files, if any. */
    readonly prompts: PromptFiles | undefined
    /** The value of that state for this server; created at the first call. */
    readonly shared: <A>(state: SharedState<A>) => Effect.Effect<A>
  }
>()("@colloquy/server/Server") {
  static readonly layer = (
    options: ServerOptions = {},
  ): Layer.Layer<Server, never, ConversationManager | SettingsResolver | Tasks | Sealer> =>
    Layer.effect(this, make(options))

  /** With tasks in their default limits and a seal that is valid until the process ends. */
  static readonly layerDefault = (
    options: ServerOptions = {},
  ): Layer.Layer<Server, never, ConversationManager | SettingsResolver> =>
    Layer.provide(Server.layer(options), [Tasks.layer(), Sealer.layer])
}

/** The values of shared states, each created once in the scope of the server. */
const makeShared = (
  scope: Scope.Scope,
  server: () => Server["Service"],
): Server["Service"]["shared"] => {
  const values = new Map<SharedState<unknown>, Effect.Effect<unknown>>()
  return <A>(state: SharedState<A>) =>
    Effect.suspend(() => {
      const known = values.get(state)
      if (known !== undefined) return known as Effect.Effect<A>
      // Created once: a cached effect starts anew when its only caller is interrupted, so no caller is.
      const creating = Effect.map(
        Effect.cached(Scope.provide(state.make(server()), scope)),
        Effect.uninterruptible,
      )
      return Effect.flatMap(creating, (created) => {
        const first = values.get(state) ?? created
        values.set(state, first)
        return first as Effect.Effect<A>
      })
    })
}

/** The broadcasts of this process, by principals. */
const broadcastsOf = ({ send, watch }: Broadcasts): ServerBroadcasts => ({
  send: (principal, text) => send(ownerOf(principal), text),
  watch: (listener) => watch((owner, text) => listener(principalOf(owner), text)),
})

const make = Effect.fnUntraced(function* ({ features, prompts, workspaces }: ServerOptions) {
  const manager = yield* ConversationManager
  const resolver = yield* SettingsResolver
  const broadcasts = yield* Broadcasts
  const workspaceOf = (principal: string) =>
    workspaces === undefined ? undefined : new Workspace(workspaces, principal, resolver)
  const server: Server["Service"] = {
    conversations: (principal) => {
      const workspace = workspaceOf(principal)
      return conversationsOf(manager, principal, workspace && ((one) => workspace.confine(one)))
    },
    watchConversations: (listener) => manager.watch((owner) => listener(principalOf(owner))),
    broadcasts: broadcasts && broadcastsOf(broadcasts),
    isClosing: manager.isClosed,
    shutdown: manager.shutdown,
    settings: (principal) => workspaceOf(principal)?.settings ?? resolver,
    workspace: workspaceOf,
    tasks: yield* Tasks,
    sealer: yield* Sealer,
    features,
    prompts,
    shared: makeShared(yield* Effect.scope, () => server),
  }
  return server
})
