/** Starts the fibers of conversations, with what all conversations of a manager share. Places none in memory. */
import { defined } from "@colloquy/protocol/Defined"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { start, type StartedConversation } from "../../Conversation.ts"
import type { ConversationObserver } from "../../ConversationObserver.ts"
import type { ConversationUnavailable } from "../../ConversationErrors.ts"
import type { ConversationEnd } from "../../conversation/ConversationHandle.ts"
import { TurnPermits } from "../../conversation/TurnPermits.ts"
import type { OnTurnCompleted } from "../../decider/CompletedTurn.ts"
import type { ModelClient } from "../../ModelClient.ts"
import type { QuotaOf } from "../../Quota.ts"
import type { QuotaPlaces } from "../../QuotaPlaces.ts"
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
  /** Where quotas are counted over several processes. Default: in this one alone. */
  readonly places?: QuotaPlaces
}

type OnEnded = (entry: Entry, loaded: LoadedConversation) => Effect.Effect<void>

/** Apart from `start`: the conversation keeps it, and would keep alive all that a function in there can reach. */
const closing =
  (entry: Entry, status: LoadedConversation["status"], onEnded: OnEnded) =>
  (end: ConversationEnd): Effect.Effect<void> => {
    status.end = end
    const { placement } = entry
    return placement._tag === "Loaded" && placement.loaded.status === status
      ? onEnded(entry, placement.loaded)
      : Effect.void
  }

/**
 * Ends a conversation whose lease is lost as one that is given up: another process may have recorded more, which this one
 * would never deliver (L4). Apart from `start` likewise.
 */
const losing =
  (log: RevocableLog, { fiber }: StartedConversation) =>
  (): void => {
    log.revoke()
    fiber.interruptUnsafe()
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
    this.permits = new TurnPermits(options.maxTurns, options.quotaOf, options.places)
  }

  /**
   * Starts the fiber of a conversation. `onEnded` is called if the fiber ends while the conversation is `Loaded`: by itself,
   * by a shutdown op or because it could not record.
   */
  start(
    entry: Entry,
    { existing, repairs, settings, unrecorded, writer }: LogSource,
    lease: Scope.Closeable,
    onEnded: OnEnded,
  ): Effect.Effect<LoadedConversation, ConversationUnavailable> {
    const { maxListeners, observer, onTurnCompleted } = this.options
    const status: LoadedConversation["status"] = { end: undefined }
    const log = new RevocableLog(entry.id, writer)
    return start(entry.id, this.settings.share(settings), {
      onClose: closing(entry, status, onEnded),
      permits: this.permits.of(entry.id, entry.owner),
      appends: this.appends,
      maxListeners,
      existing,
      repairs,
      writer: log,
      ...defined({ observer, onTurnCompleted, unrecorded }),
    }).pipe(
      Effect.updateContext((_: Context.Context<never>) => this.services),
      Effect.map((started) => {
        writer.onLost?.(losing(log, started))
        return { ...started, lease, log, status }
      }),
    )
  }

  /** Resolves when nothing is being appended any more. */
  get close(): Effect.Effect<void> {
    return this.appends.close
  }
}
