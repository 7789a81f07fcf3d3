/**
 * What the fuzzer attacks: one place where bytes from outside enter the program. An edge gives valid inputs, knows how
 * to change them in ways that a change of single bytes rarely finds, and runs an input through the real decoder.
 *
 * An implementation never reads a clock or chance of its own: it runs on a virtual clock, and each input is a function
 * of the seed (L12).
 */
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { SeededRandom } from "../SeededRandom.ts"

/** The laws that an input can break; `memory` stands for the bound on what inputs leave behind. */
export type FuzzLaw = "L1" | "L9" | "L11" | "L13" | "memory"

/** An input broke a law. A defect needs none: the runner reports every defect of an input as a violation of L13. */
export class Violation extends Data.TaggedError("Violation")<{
  readonly law: FuzzLaw
  /** What happened, and what was expected. Equal for equal inputs. */
  readonly message: string
}> {}

/** `accepted`: the input, or a part of it, was taken as valid. `rejected`: all of it was refused, by a typed error. */
export type Verdict = "accepted" | "rejected"

/** An edge that has been opened: what its inputs share, a server for example. */
export interface Target {
  /**
   * Runs one input. Fails with a violation; a defect, an input that never returns, and an input that is far slower than
   * its length explains are violations too, and the runner finds them by itself.
   */
  readonly run: (input: Uint8Array) => Effect.Effect<Verdict, Violation>
  /**
   * Counts of what inputs leave behind, by name: pending requests, open conversations. The runner compares them after
   * each input with those of the newly opened target; a greater one is a violation of `memory`.
   */
  readonly sizes?: () => Readonly<Record<string, number>>
  /** Runs once behind the last input of the target, before it is closed: checks of everything that went before. */
  readonly end?: Effect.Effect<void, Violation>
  /**
   * True for a target whose inputs may leave work running, because what they belong to lives on. Default false: fibers
   * that an input started and did not end within a minute are a violation of `memory`.
   */
  readonly keepsWork?: boolean
}

export interface Edge {
  /** Unique, kebab-case: the value of `--edge`. */
  readonly name: string
  /** One line for `--help`: what is decoded, and by which module. */
  readonly summary: string
  /** Valid inputs, from which all others are made; at least one. The runner runs each of them unchanged first. */
  readonly corpus: ReadonlyArray<Uint8Array>
  /**
   * Changes an input and keeps most of its structure. The runner mixes it with mutations of bytes; without it, there are
   * only those. Must be pure but for the draws.
   */
  readonly mutate?: (input: Uint8Array, draws: SeededRandom) => Uint8Array
  /** Inputs after which the target is closed and opened anew; 1 opens one for each input. Default 1,000. */
  readonly inputsPerTarget?: number
  /** Longest input that the runner makes, in bytes. Default 16 KiB. */
  readonly maxInputBytes?: number
  /** Virtual time that an input may take. Default 10 minutes, far beyond every bound that the program has for a message. */
  readonly maxVirtualMs?: number
  /** Opens a target. What it needs ends with the scope, which the runner closes; a defect at the close is a violation. */
  readonly open: Effect.Effect<Target, Violation, Scope.Scope>
}
