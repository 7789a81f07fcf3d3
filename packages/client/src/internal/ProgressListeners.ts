/**
 * Routes progress notifications of one connection to the requests that asked for them. Chooses the
 * progress tokens.
 */
import { requestIdKey } from "@colloquy/protocol/JsonRpc"
import type { Progress, ProgressToken } from "@colloquy/protocol/mcp/CodexMcp"
import type { Params } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"

/** One progress notification. */
export interface CallProgress {
  /** Increases from one notification to the next. */
  readonly progress: number
  /** The value of `progress` at the end, if it is known. */
  readonly total?: number
  /** A text to show to a person; servers before 2025-03-26 send none. */
  readonly message?: string
}

/** Handles one progress notification. */
export type OnProgress = (progress: CallProgress) => Effect.Effect<void>

/** The progress listeners of one connection. */
export interface ProgressListeners {
  /**
   * Runs the request with its own token; `listener` is called for its notifications until the
   * request ends.
   */
  readonly during: <A, E, R>(
    listener: OnProgress,
    request: (token: ProgressToken) => Effect.Effect<A, E, R>,
  ) => Effect.Effect<A, E, R>
  /** The handler of the server's notification. Tokens of ended or unknown requests are ignored. */
  readonly onNotification: (params: Params<typeof Progress>) => Effect.Effect<void>
}

/** Creates a registry without listeners. */
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
    onNotification: ({ progressToken, ...progress }) =>
      listeners.get(requestIdKey(progressToken))?.(progress) ?? Effect.void,
  }
}
