/** Completion: what a person may mean who has typed the beginning of an argument. */
import type * as Effect from "effect/Effect"
import type { RequestContext } from "../mcp/RequestContext.ts"

export interface CompletionRequest {
  /** What was typed so far; may be empty. */
  readonly value: string
  /** Arguments that are settled already. */
  readonly arguments: Readonly<Record<string, string>>
  readonly context: RequestContext
}

/** Best first; more than 100 values are cut, and the client is told that there are more. */
export type Completions =
  | ReadonlyArray<string>
  | {
      readonly values: ReadonlyArray<string>
      /** How many there are, with those that are not given. */
      readonly total?: number
      readonly hasMore?: boolean
    }

export type Complete<E, R> = (request: CompletionRequest) => Effect.Effect<Completions, E, R>
