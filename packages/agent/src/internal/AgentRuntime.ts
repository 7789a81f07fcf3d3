/**
 * The conversations of one agent in this process. Built by the first chat that opens, with the services at hand, and
 * closed with the last one, so that an agent is a plain value that owns nothing while it is not used.
 *
 *     closed ── first open ──▶ built ── last chat closes ──▶ closed
 */
import { ConversationManager } from "@colloquy/core/ConversationManager"
import { SettingsResolver } from "@colloquy/core/ConversationSettings"
import { IdGenerator } from "@colloquy/core/IdGenerator"
import * as Conversations from "@colloquy/core/manager/Conversations"
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import { defined } from "@colloquy/protocol/Defined"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { type AgentDefinition, resumedSettings, settingsOf } from "./AgentDefinition.ts"
import { ChatTools } from "./ChatTools.ts"

/** The id that the next new conversation gets; undefined: one of its own. */
export const WantedId = Context.Reference<ConversationId | undefined>(
  "@colloquy/agent/internal/WantedId",
  { defaultValue: () => undefined },
)

/** Ids of new conversations: the wanted one where the caller names its conversation. */
const ids = Layer.effect(
  IdGenerator,
  Effect.map(IdGenerator, ({ conversationId }) => ({
    conversationId: Effect.flatMap(WantedId, (wanted) =>
      wanted === undefined ? conversationId : Effect.succeed(wanted),
    ),
  })),
).pipe(Layer.provide(IdGenerator.layer))

/** What a chat uses. */
export type RuntimeServices = ConversationManager | SettingsResolver | IdGenerator

const layerOf = (definition: AgentDefinition, tools: ChatTools) => {
  const settings = Layer.succeed(SettingsResolver, {
    resolve: ({ stored }) =>
      Effect.sync(() => {
        const current = settingsOf(definition)
        return stored === undefined ? current : resumedSettings(current, stored)
      }),
  })
  const { idleTimeToLive, machine, model, name, store, version } = definition
  const runtime =
    machine === undefined
      ? Layer.succeed(ToolRuntime, tools.runtime)
      : Layer.effect(
          ToolRuntime,
          Effect.map(ToolRuntime, (of) => tools.with(of)),
        ).pipe(Layer.provide(machine["~colloquy/agent/Machine"].layer))
  return Conversations.layerWith({
    program: { originator: name, version, source: "agent" },
    ...defined({ idleTimeToLive }),
  }).pipe(Layer.provide([model.layer, store, runtime]), Layer.provideMerge([settings, ids]))
}

interface Built {
  readonly services: Context.Context<RuntimeServices>
  readonly scope: Scope.Closeable
}

/** One lock, kept while somebody holds or awaits it. */
interface Lock {
  readonly semaphore: Semaphore.Semaphore
  users: number
}

/** The conversations of one agent. */
export class AgentRuntime {
  readonly definition: AgentDefinition
  readonly tools = new ChatTools()
  private readonly changing = Semaphore.makeUnsafe(1)
  private readonly locks = new Map<string, Lock>()
  private built: Built | undefined
  private users = 0

  constructor(definition: AgentDefinition) {
    this.definition = definition
  }

  /** The services of the agent, until the scope closes. */
  get acquire(): Effect.Effect<Context.Context<RuntimeServices>, unknown, Scope.Scope> {
    return Effect.acquireRelease(this.enter, () => this.leave)
  }

  /** Runs one effect at a time for each key. */
  exclusive(key: string) {
    return <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.suspend(() => {
        const lock = this.locks.get(key) ?? { semaphore: Semaphore.makeUnsafe(1), users: 0 }
        lock.users++
        this.locks.set(key, lock)
        return lock.semaphore
          .withPermits(1)(effect)
          .pipe(
            Effect.ensuring(
              Effect.sync(() => {
                if (--lock.users === 0) this.locks.delete(key)
              }),
            ),
          )
      })
  }

  private get enter(): Effect.Effect<Context.Context<RuntimeServices>, unknown> {
    const { changing, definition, tools } = this
    return changing.withPermits(1)(
      Effect.gen({ self: this }, function* () {
        if (this.built === undefined) {
          const scope = Scope.makeUnsafe()
          // The services that the layers need are those of the caller; its type is that of `Agent.open`.
          const layer = layerOf(definition, tools) as Layer.Layer<RuntimeServices, unknown>
          const services = yield* Effect.onError(Layer.buildWithScope(layer, scope), (cause) =>
            Scope.close(scope, Exit.failCause(cause)),
          )
          this.built = { services, scope }
        }
        this.users++
        return this.built.services
      }),
    )
  }

  private get leave(): Effect.Effect<void> {
    return this.changing.withPermits(1)(
      Effect.suspend(() => {
        if (--this.users > 0 || this.built === undefined) return Effect.void
        const { scope } = this.built
        this.built = undefined
        return Scope.close(scope, Exit.void)
      }),
    )
  }
}
