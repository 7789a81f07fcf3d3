/** Completion: values that a client offers a person who has typed the beginning of an argument. Types only. */
import type * as Effect from "effect/Effect"
import type { RequestContext } from "../mcp/RequestContext.ts"

/** A request for values of one argument of a prompt, or one variable of a template. */
export interface CompletionRequest {
  /** The text typed so far; may be empty. */
  readonly value: string
  /** Values of other arguments that the person has entered already, by name. */
  readonly arguments: Readonly<Record<string, string>>
  readonly context: RequestContext
}

/** Values, best first. The response has at most the first 100, and says when there are more. */
export type Completions =
  | ReadonlyArray<string>
  | {
      readonly values: ReadonlyArray<string>
      /** Number of all values, including those not in `values`. */
      readonly total?: number
      /** Whether there are values that are not in `values`. Default false. */
      readonly hasMore?: boolean
    }

/** Finds values for an argument. A failure that is not a `JsonRpcError` is logged and becomes an internal error. */
export type Complete<E, R> = (request: CompletionRequest) => Effect.Effect<Completions, E, R>
