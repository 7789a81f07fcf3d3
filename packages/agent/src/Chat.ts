/** A conversation with an agent, open in a scope. Types only; `internal/OpenChat.ts` opens one. */
import type { Conversation } from "@colloquy/core/Conversation"
import type { Event } from "@colloquy/protocol/EventMsg"
import type { ConversationId } from "@colloquy/protocol/Ids"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { ChatClosed, EventsLost, OpenError } from "./AgentErrors.ts"
import type { OnApproval } from "./Approval.ts"
import type { Budget } from "./Budget.ts"
import type { Ask, AskOptions, Input } from "./Turn.ts"

/** Options of one open chat. */
export interface OpenOptions<Q> {
  /** Answers the questions of its turns, instead of the policy of the agent. */
  readonly onApproval?: OnApproval<Q>
  /** Limits of all its turns, those of its children included, instead of the budget of the agent. */
  readonly budget?: Budget
}

/** The keys of `OpenOptions`. */
export const openKeys: ReadonlyArray<keyof OpenOptions<unknown>> = ["onApproval", "budget"]

/** Options of a child. What is absent is inherited. */
export interface ChildOptions<Q> extends OpenOptions<Q> {
  /** Its name within the parent, by which it can be resumed. Default: a new conversation. */
  readonly name?: string
  /** Default: those of the parent. */
  readonly instructions?: string
  /** Names of the parent's tools that it has, those of its machine included, such as `shell`. Default: all. */
  readonly tools?: ReadonlyArray<string>
}

/** The keys of `ChildOptions`. */
export const childKeys: ReadonlyArray<keyof ChildOptions<unknown>> = [
  ...openKeys,
  "name",
  "instructions",
  "tools",
]

/** An open conversation. Used after its scope has closed, each member fails with `ChatClosed`. */
export interface Chat<Q = never> {
  readonly id: ConversationId
  /** True: it was in the store already. */
  readonly isResumed: boolean
  /** Describes a turn; see `Ask` for the ways to run it. A wrong option key is a defect of that run, `UnknownOption`. */
  readonly ask: <A = string, R = never>(input: Input, options?: AskOptions<Q, A, R>) => Ask<A, R>
  /**
   * Every event of the conversation, from the next one on or from number `from` on, whoever causes it; see
   * `Conversation.events`. Ends when the chat closes.
   */
  readonly events: (options?: {
    readonly from?: number
  }) => Stream.Stream<Event, EventsLost | ChatClosed>
  /**
   * Opens a conversation of its own with the same agent: same tools and services, same policy, and the same budget, of
   * which everything that it uses is taken. It closes with this chat.
   */
  readonly child: (options?: ChildOptions<Q>) => Effect.Effect<Chat<Q>, OpenError>
  /** The conversation of the core, for everything that is not here. */
  readonly conversation: Conversation
}
