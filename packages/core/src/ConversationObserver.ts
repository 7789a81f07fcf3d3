/**
 * Port: what a program that measures or traces its conversations is told about them. Absent by default: then nothing of it is
 * evaluated, and a conversation pays one comparison for each commit. `telemetry/Telemetry.ts` implements it.
 *
 * Every member returns at once and never fails, because a conversation waits for it.
 */
import type { Event } from "@colloquy/protocol/EventMsg"
import type { ConversationId, SubmissionId } from "@colloquy/protocol/Ids"
import * as Context from "effect/Context"
import type * as Tracer from "effect/Tracer"
import type { ConversationSettings } from "./ConversationSettings.ts"
import type { ModelClient } from "./ModelClient.ts"
import type { ToolRuntime } from "./ToolRuntime.ts"

/** What one loaded conversation holds at this moment. */
export interface ConversationLoad {
  readonly isRunning: boolean
  readonly pendingQuestions: number
  /** Submissions that wait for a turn of their own. */
  readonly queuedInputs: number
  /** Commands in the inbox that the conversation has not read. */
  readonly unreadCommands: number
  readonly listeners: number
  /** Events that the slowest listener has not read. */
  readonly longestLag: number
}

/** The observer of all conversations of one manager. */
export interface ConversationObserver {
  /**
   * A caller within this span submitted what the turn of this id will contain. Precedes everything of that turn, unless the
   * turn runs already.
   */
  readonly submitted: (
    conversation: ConversationId,
    turn: SubmissionId,
    caller: Tracer.AnySpan,
  ) => void
  /** These events were recorded and delivered, in order. `settings` are those after them. */
  readonly committed: (
    conversation: ConversationId,
    events: ReadonlyArray<Event>,
    settings: ConversationSettings,
  ) => void
  /** The conversation is in memory no longer. */
  readonly closed: (conversation: ConversationId) => void
  /** An idle conversation was evicted. */
  readonly evicted: () => void
  /** The services of all conversations, with those in their places that the observer observes. */
  readonly observe: (
    services: Context.Context<ModelClient | ToolRuntime>,
  ) => Context.Context<ModelClient | ToolRuntime>
  /**
   * A manager has started. `loads` gives what each of its conversations in memory holds, at any time. Returns what to call
   * when it has ended.
   */
  readonly measure: (loads: () => ReadonlyArray<ConversationLoad>) => () => void
}

/** The observer. Read once by each manager, when it starts. */
export const ConversationObserver = Context.Reference<ConversationObserver | undefined>(
  "@colloquy/core/ConversationObserver",
  { defaultValue: () => undefined },
)
