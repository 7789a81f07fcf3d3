/** What one connection remembers: who its client is, its subscriptions, and the questions that are with it. */
import type { ConversationManager } from "@colloquy/core/ConversationManager"
import type { ResultOf, Params } from "@colloquy/protocol/Method"
import type { ApprovalForm, Initialize } from "@colloquy/protocol/app/Session"
import type * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { heardOf, type Heard } from "./Heard.ts"
import * as Holds from "./Holds.ts"
import * as Questions from "./Questions.ts"
import * as Subscriptions from "./Subscriptions.ts"

export interface AppConnection {
  /** What goes on behind an answer lives in it. */
  readonly scope: Scope.Scope
  /** False when it was done before. */
  readonly initialize: (params: Params<typeof Initialize>) => boolean
  readonly initialized: () => boolean
  readonly approvals: () => ApprovalForm
  /** Names the client once it is known (§1.2). */
  readonly userAgent: () => ResultOf<typeof Initialize>
  readonly subscriptions: Subscriptions.Subscriptions
  readonly heard: Heard
  /** What conversations tell, by their ids, and what becomes of logins, by `logins`. */
  readonly holds: Holds.Holds
  /** Searches for files that are under way, by the client's tokens; whoever completes one ends it. */
  readonly searches: Map<string, Deferred.Deferred<void>>
}

export interface AppConnectionOptions {
  readonly manager: ConversationManager["Service"]
  /** Until the client says otherwise. */
  readonly approvals: () => ApprovalForm
  /** The server's own part: `colloquy/1.2.3 (Linux 6.1; x86_64)`. */
  readonly userAgent: string
}

export const make = Effect.fnUntraced(function* (
  options: AppConnectionOptions,
): Effect.fn.Return<AppConnection, never, Scope.Scope> {
  const scope = yield* Effect.scope
  let client: Params<typeof Initialize> | undefined
  const approvals = () => client?.capabilities?.approvals ?? options.approvals()
  const heard = heardOf(options.manager)
  const holds = Holds.make()
  const questions = Questions.make(approvals)
  return {
    scope,
    heard,
    holds,
    approvals,
    searches: new Map(),
    initialize: (params) => {
      if (client !== undefined) return false
      client = params
      return true
    },
    initialized: () => client !== undefined,
    userAgent: () => {
      const info = client?.clientInfo
      return {
        userAgent:
          info === undefined
            ? options.userAgent
            : `${options.userAgent} (${info.name}; ${info.version})`,
      }
    },
    subscriptions: Subscriptions.make({ scope, heard, holds, questions, approvals }),
  }
})
