/**
 * The conversations of one process: made, found, listed and ended here, nowhere else (§5.1).
 *
 * Owns the scope of each conversation. Keeps L3 (a start that fails leaves nothing behind) and L8 at its level:
 * closing the manager ends every conversation, all at the same time and within the bound of each.
 */
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { type Conversation, make as makeConversation } from "./Conversation.ts"
import { NoSuchConversation, TooManyConversations } from "./ConversationErrors.ts"
import type { ConversationSettings } from "./ConversationSettings.ts"
import { IdGenerator } from "./IdGenerator.ts"
import type { ModelClient } from "./ModelClient.ts"
import type { ToolRuntime } from "./ToolRuntime.ts"

export interface ConversationManagerOptions {
  /** One more is refused. Default 10,000: at a few KiB each an idle process stays small. */
  readonly maxConversations?: number
}

interface Entry {
  readonly conversation: Conversation
  readonly scope: Scope.Closeable
}

export class ConversationManager extends Context.Service<
  ConversationManager,
  {
    /** Makes a conversation; its first event, `session_configured`, is in its log when this returns. */
    readonly create: (
      settings: ConversationSettings,
    ) => Effect.Effect<Conversation, TooManyConversations>
    readonly get: (id: string) => Effect.Effect<Conversation, NoSuchConversation>
    /** Ids of all conversations, oldest first. */
    readonly list: Effect.Effect<ReadonlyArray<ConversationId>>
    /** Ends a conversation: its turn, its listeners, its fiber. Returns when that is done. */
    readonly remove: (id: string) => Effect.Effect<void, NoSuchConversation>
  }
>()("@colloquy/core/ConversationManager") {
  static readonly layerWith = (
    options: ConversationManagerOptions,
  ): Layer.Layer<ConversationManager, never, ModelClient | ToolRuntime | IdGenerator> =>
    Layer.effect(
      this,
      Effect.suspend(() => make(options)),
    )

  static readonly layer = this.layerWith({})
}

const make = Effect.fnUntraced(function* (options: ConversationManagerOptions) {
  const maxConversations = options.maxConversations ?? 10_000
  const services = yield* Effect.context<ModelClient | ToolRuntime>()
  const ids = yield* IdGenerator
  const entries = new Map<string, Entry>()
  let closed = false
  /** Conversations being made: they count, and are not listed yet. */
  let making = 0

  const find = (id: string) =>
    Effect.suspend(() => {
      const entry = entries.get(id)
      return entry === undefined
        ? Effect.fail(new NoSuchConversation({ id }))
        : Effect.succeed(entry)
    })

  const end = (entry: Entry) => Scope.close(entry.scope, Exit.void)

  yield* Effect.addFinalizer(() => {
    closed = true
    const all = [...entries.values()]
    entries.clear()
    return Effect.forEach(all, end, { concurrency: "unbounded", discard: true })
  })

  const open = Effect.fnUntraced(function* (settings: ConversationSettings) {
    const id = yield* ids.conversationId
    const scope = yield* Scope.make()
    const conversation = yield* makeConversation(id, settings, {
      onClose: Effect.sync(() => entries.delete(id)),
    }).pipe(Scope.provide(scope), Effect.provideContext(services))
    const entry: Entry = { conversation, scope }
    // Nobody would end it any more: what is made too late is a conversation that has ended.
    if (closed) yield* end(entry)
    else entries.set(id, entry)
    return conversation
  })

  const create = (settings: ConversationSettings) =>
    Effect.suspend(() => {
      if (entries.size + making >= maxConversations) {
        return Effect.fail(new TooManyConversations({ maxConversations }))
      }
      making++
      return Effect.ensuring(
        open(settings),
        Effect.sync(() => making--),
      )
    }).pipe(Effect.uninterruptible)

  return ConversationManager.of({
    create,
    get: (id) => Effect.map(find(id), (entry) => entry.conversation),
    list: Effect.sync(() => [...entries.values()].map(({ conversation }) => conversation.id)),
    remove: (id) =>
      // An interrupt between the two would leave a conversation that nobody can find or end.
      Effect.uninterruptible(
        Effect.flatMap(find(id), (entry) => {
          entries.delete(id)
          return end(entry)
        }),
      ),
  })
})
