/** Questions of an agent's tools to a person or a policy, and their answers. */
import type { ReviewDecision } from "@colloquy/protocol/Policy"
import type * as Effect from "effect/Effect"

/** May this call of a tool run? Narrow it by `tool` to read the `input`. */
export interface Question<out Name extends string = string, out Input = unknown> {
  /** Name of the tool. */
  readonly tool: Name
  /** What its function will get. */
  readonly input: Input
  /** For a person: what will happen, with the arguments in full and warnings about signs that look like others. */
  readonly reason: string
  /** Id of the call in the events of the conversation. */
  readonly callId: string
  readonly turnId: string
  readonly conversationId: string
}

/**
 * The answer to a question: `approved_for_session` also approves later calls of that tool with the same input in the same
 * conversation, `abort` denies and interrupts the turn. `true` is `approved`, `false` is `denied`.
 */
export type Decision = ReviewDecision | boolean

/**
 * Answers questions. It is interrupted when the question was resolved otherwise: by its deadline, or because the turn
 * ended. One that dies denies.
 */
export type OnApproval<Q, R = never> = (question: Q) => Decision | Effect.Effect<Decision, never, R>
