/** Starts the fibers of conversations, with what all conversations of a manager share. Places none in memory. */
import { defined } from "@colloquy/protocol/Defined"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { start } from "../../Conversation.ts"
import type { ConversationObserver } from "../../ConversationObserver.ts"
import type { ConversationUnavailable } from "../../ConversationErrors.ts"
import { TurnPermits } from "../../conversation/TurnPermits.ts"
import type { OnTurnCompleted } from "../../decider/CompletedTurn.ts"
import type { ModelClient } from "../../ModelClient.ts"
import type { QuotaOf } from "../../Quota.ts"
import { AppendCalls } from "../../store/AppendCalls.ts"
import { RevocableLog } from "../../store/RevocableLog.ts"
import type { ToolRuntime } from "../../ToolRuntime.ts"
import type { Entry, LoadedConversation } from "../Entry.ts"
import type { LogSource } from "../Storage.ts"
import { SharedSettings } from "./SharedSettings.ts"

/** What every conversation is started with. */
export interface StarterOptions {
  /** Turns that run at once, in all conversations together. */
  readonly maxTurns: number
  /** Listeners of one conversation. */
  readonly maxListeners: number
  readonly onTurnCompleted?: OnTurnCompleted
  readonly observer?: ConversationObserver
  readonly quotaOf?: QuotaOf
}

/** See the header. One per manager. */
export class ConversationStarter {
  private readonly options: StarterOptions
  /** Context of every conversation: the manager's, since a conversation would keep that of the caller alive. */
  private readonly services: Context.Context<ModelClient | ToolRuntime>
  private readonly permits: TurnPermits
  private readonly appends = new AppendCalls()
  /** Settings that are the same in several conversations. */
  readonly settings = new SharedSettings()

  constructor(options: StarterOptions, services: Context.Context<ModelClient | ToolRuntime>) {
    this.options = options
    this.services = services
    this.permits = new TurnPermits(options.maxTurns, options.quotaOf)
  }

  /**
   * Starts the fiber of a conversation. `onEnded` is called if the fiber ends while the conversation is `Loaded`: by itself,
   * by a shutdown op or because it could not record.
   */
  start(
    entry: Entry,
    { existing, repairs, settings, unrecorded, writer }: LogSource,
    lease: Scope.Closeable,
    onEnded: (loaded: LoadedConversation) => Effect.Effect<void>,
  ): Effect.Effect<LoadedConversation, ConversationUnavailable> {
    const { maxListeners, observer, onTurnCompleted } = this.options
    const status = { ended: false }
    const onClose = () => {
      status.ended = true
      const { placement } = entry
      return placement._tag === "Loaded" && placement.loaded.status === status
        ? onEnded(placement.loaded)
        : Effect.void
    }
    const log = new RevocableLog(entry.id, writer)
    return start(entry.id, this.settings.share(settings), {
      onClose,
      permits: this.permits.of(entry.owner),
      appends: this.appends,
      maxListeners,
      existing,
      repairs,
      writer: log,
      ...defined({ observer, onTurnCompleted, unrecorded }),
    }).pipe(
      Effect.updateContext((_: Context.Context<never>) => this.services),
      Effect.map(({ conversation, fiber }) => ({ conversation, fiber, lease, log, status })),
    )
  }

  /** Resolves when nothing is being appended any more. */
  get close(): Effect.Effect<void> {
    return this.appends.close
  }
}
