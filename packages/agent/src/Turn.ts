/** A turn of a chat as a value: described, running, and over. Types and checks of options; `internal/RunTurn.ts` runs one. */
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import type { InputItem, TokenUsage } from "@colloquy/protocol/ResponseItem"
import type * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import type { TurnError } from "./AgentErrors.ts"
import type { OnApproval } from "./Approval.ts"
import { type Budget, budgetOptions } from "./Budget.ts"
import { type Kinds, func, is, optional, options, schema } from "./internal/Options.ts"

/** What is asked: a text, or texts and images. */
export type Input = string | ReadonlyArray<InputItem>

/** How a turn ended that has an answer. */
export interface TurnResult<out A = string> {
  /** Id of the turn: that of its events. */
  readonly turnId: string
  readonly conversationId: string
  /** The last message of the model; empty when it sent none. */
  readonly text: string
  /** The text, or what it says by the schema of the `ask`. */
  readonly value: A
  /** Tokens of all requests of the turn; all 0 where the provider reports none. */
  readonly usage: TokenUsage
}

/** Options of one `ask`. */
export interface AskOptions<Q, A = string, R = never> {
  /** Answers the questions of this turn, instead of the policy of the chat or of the agent. */
  readonly onApproval?: OnApproval<Q, R>
  /**
   * What the answer has to be. The model gets the JSON Schema; an answer that does not match is asked for once more,
   * with what is wrong with it, as a second turn. A second mismatch is `AnswerMismatch`.
   */
  readonly schema?: Schema.Codec<A, unknown>
  /** Limits of this turn, beside those of the chat. */
  readonly budget?: Budget
}

/** What `AskOptions` have to be. */
export const askOptions = options({
  onApproval: optional(func),
  schema: optional(schema),
  budget: optional(budgetOptions),
} satisfies Kinds<AskOptions<unknown, unknown, unknown>>)

/** What the input has to be before its items are looked at. */
export const askInput = is(
  "a text or an array of texts and images",
  (value) => typeof value === "string" || Array.isArray(value),
)

/** A turn that was accepted. It runs whether or not anything of this is used, until it is over or its chat closes. */
export interface Turn<out A = string> {
  /** Id of its events. A second attempt at a structured answer has an id of its own. */
  readonly id: string
  /**
   * Its events, from `task_started` to the terminal one; recorded ones also for a reader that comes late. Ends, and does
   * not fail, where the turn fails.
   */
  readonly events: Stream.Stream<EventMsg, TurnError>
  /** Waits for the answer. */
  readonly result: Effect.Effect<TurnResult<A>, TurnError>
  /** Interrupts it. Resolves at once; `result` fails with `TurnInterrupted` within a second. Does nothing when it is over. */
  readonly interrupt: Effect.Effect<void>
}

/**
 * A turn that is to be: nothing happens until it is run, and each run is a turn of its own. Run it
 * - as a stream: its events, then the failure if it failed; interrupting the stream interrupts the turn
 * - by `result`: only the answer; interrupting it interrupts the turn
 * - by `start`: a handle of the running turn, which its chat interrupts when it closes
 *
 * Turns of one conversation run one after the other: a second one waits.
 */
export interface Ask<out A = string, out R = never> extends Stream.Stream<EventMsg, TurnError, R> {
  readonly result: Effect.Effect<TurnResult<A>, TurnError, R>
  readonly start: Effect.Effect<Turn<A>, TurnError, R>
}
