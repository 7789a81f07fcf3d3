/** Who hears the progress of which request of one connection. Chooses the tokens; decides nothing else. */
import { requestIdKey } from "@colloquy/protocol/JsonRpc"
import type { Progress, ProgressToken } from "@colloquy/protocol/mcp/CodexMcp"
import type { Params } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"

/** One word of a server about how far a call is. */
export interface CallProgress {
  /** Rises from one to the next. */
  readonly progress: number
  readonly total?: number
  /** For a person; servers before 2025-03-26 send none. */
  readonly message?: string
}

export type OnProgress = (progress: CallProgress) => Effect.Effect<void>

export interface ProgressListeners {
  /** Runs the request with a token of its own; `listener` is called until it ends. */
  readonly during: <A, E, R>(
    listener: OnProgress,
    request: (token: ProgressToken) => Effect.Effect<A, E, R>,
  ) => Effect.Effect<A, E, R>
  /** The handler of the server's notification; one of no request of ours is ignored. */
  readonly told: (params: Params<typeof Progress>) => Effect.Effect<void>
}

export const make = (): ProgressListeners => {
  const listeners = new Map<string | number, OnProgress>()
  let next = 0
  return {
    during: (listener, request) =>
      Effect.suspend(() => {
        const token = next++
        listeners.set(requestIdKey(token), listener)
        return Effect.ensuring(
          request(token),
          Effect.sync(() => listeners.delete(requestIdKey(token))),
        )
      }),
    told: ({ progressToken, ...progress }) =>
      listeners.get(requestIdKey(progressToken))?.(progress) ?? Effect.void,
  }
}
