/** A conversation with an agent, open in a scope. Types and checks of options; `internal/OpenChat.ts` opens one. */
import type { Conversation } from "@colloquy/core/Conversation"
import type { Event } from "@colloquy/protocol/EventMsg"
import type { ConversationId } from "@colloquy/protocol/Ids"
import type * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Stream from "effect/Stream"
import type { ChatClosed, EventsLost, OpenError } from "./AgentErrors.ts"
import type { OnApproval } from "./Approval.ts"
import { type Budget, budgetOptions } from "./Budget.ts"
import { type Kinds, func, is, listOf, optional, options, text } from "./internal/Options.ts"
import type { Ask, AskOptions, Input } from "./Turn.ts"

/** Options of one open chat. */
export interface OpenOptions<Q> {
  /** Answers the questions of its turns, instead of the policy of the agent. */
  readonly onApproval?: OnApproval<Q>
  /** Limits of all its turns, those of its children included, instead of the budget of the agent. */
  readonly budget?: Budget
}

const openKinds = { onApproval: optional(func), budget: optional(budgetOptions) }

/** What `OpenOptions` have to be. */
export const openOptions = options(openKinds satisfies Kinds<OpenOptions<unknown>>)

/** Options of a child. What is absent is inherited. */
export interface ChildOptions<Q> extends OpenOptions<Q> {
  /** Its name within the parent, by which it can be resumed. Default: a new conversation. */
  readonly name?: string
  /** Default: those of the parent. */
  readonly instructions?: string
  /** Names of the parent's tools that it has, those of its machine included, such as `shell`. Default: all. */
  readonly tools?: ReadonlyArray<string>
}

/** What `ChildOptions` have to be. */
export const childOptions = options({
  ...openKinds,
  name: optional(text),
  instructions: optional(text),
  tools: optional(listOf("an array of names of tools", text)),
} satisfies Kinds<ChildOptions<unknown>>)

/** Options of `Chat.events`. */
export interface EventsOptions {
  /** Number of the first event. Default: the next one. */
  readonly from?: number
}

/** What `EventsOptions` have to be. */
export const eventsOptions = options({
  from: optional(is("the number of an event", Predicate.isNumber)),
} satisfies Kinds<EventsOptions>)

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
  readonly events: (options?: EventsOptions) => Stream.Stream<Event, EventsLost | ChatClosed>
  /**
   * Opens a conversation of its own with the same agent: same tools and services, same policy, and the same budget, of
   * which everything that it uses is taken. It closes with this chat.
   */
  readonly child: (options?: ChildOptions<Q>) => Effect.Effect<Chat<Q>, OpenError>
  /** The conversation of the core, for everything that is not here. */
  readonly conversation: Conversation
}
