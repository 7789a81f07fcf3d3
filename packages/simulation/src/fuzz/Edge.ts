/**
 * What the fuzzer attacks: one place where bytes from outside enter the program. An edge supplies valid inputs, mutates
 * them in ways that changes of single bytes rarely find, and runs an input through the real decoder.
 *
 * An implementation never reads a real clock or other randomness: it runs on a virtual clock, and each input is a
 * function of the seed (L12).
 */
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { SeededRandom } from "../SeededRandom.ts"

/**
 * The laws that an input can break; `memory` is the rule that an input must not leak fibers, counts or heap, `access` that
 * nothing is served without credentials.
 */
export type FuzzLaw = "L1" | "L4" | "L9" | "L11" | "L13" | "memory" | "access"

/** An input broke a law. Defects need no violation: the runner reports every defect of an input as a violation of L13. */
export class Violation extends Data.TaggedError("Violation")<{
  readonly law: FuzzLaw
  /** What happened and what was expected. Equal inputs give equal messages. */
  readonly message: string
}> {}

/** `accepted`: at least a part of the input is valid. `rejected`: all of it was refused with a typed error. */
export type Verdict = "accepted" | "rejected"

/** An opened edge: the state that its inputs share, such as a server. */
export interface Target {
  /**
   * Runs one input. Fails with a violation. A defect, an input that never returns, and an input that is far slower than
   * its length explains are violations too; the runner detects them.
   */
  readonly run: (input: Uint8Array) => Effect.Effect<Verdict, Violation>
  /**
   * Counts that must not grow, by name: pending requests, open conversations. The runner compares them after each input
   * with those of the newly opened target; a greater count is a violation of `memory`.
   */
  readonly sizes?: () => Readonly<Record<string, number>>
  /** Runs once after the last input of the target, before it is closed: checks of all inputs together. */
  readonly end?: Effect.Effect<void, Violation>
  /**
   * True for a target whose inputs may leave work running, for example because their connection stays open. Default
   * false: fibers that an input started and that do not end within a minute are a violation of `memory`.
   */
  readonly keepsWork?: boolean
}

/** One place where bytes enter, with its inputs and its decoder. */
export interface Edge {
  /** Unique, kebab-case: the value of `--edge`. */
  readonly name: string
  /** One line for `--help`: the decoded format and the module that decodes it. */
  readonly summary: string
  /** Valid inputs from which all others are made; at least one. The runner first runs each of them unchanged. */
  readonly corpus: ReadonlyArray<Uint8Array>
  /**
   * Changes an input and keeps most of its structure. The runner mixes it with mutations of bytes; without it, the
   * runner uses only those. Must be pure except for the draws.
   */
  readonly mutate?: (input: Uint8Array, draws: SeededRandom) => Uint8Array
  /** Inputs after which the target is closed and opened anew; 1 opens one for each input. Default 1,000. */
  readonly inputsPerTarget?: number
  /** Longest input that the runner makes, in bytes. Default 16 KiB. */
  readonly maxInputBytes?: number
  /** Virtual time that an input may take. Default 10 minutes, far beyond every bound that the program has for a message. */
  readonly maxVirtualMs?: number
  /**
   * Turns of the event loop that pass before virtual time does: for a target with streams of the platform, which go on in
   * turns of their own. Default 0.
   */
  readonly turnsBeforeTime?: number
  /** Opens a target. Its resources belong to the scope, which the runner closes; a defect at the close is a violation. */
  readonly open: Effect.Effect<Target, Violation, Scope.Scope>
}
