/**
 * The connections that speak this dialect with one manager, and what all of them are told (§3.9). Holds nothing of a
 * connection that is gone.
 */
import type { ConversationManager } from "@colloquy/core/ConversationManager"
import { AccountRateLimitsUpdated, AuthStatusChange } from "@colloquy/protocol/app/Account"
import type { Params } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Auth } from "../ports/AuthPort.ts"
import type { Notices } from "./Notices.ts"

interface Member {
  readonly auth: Auth["Service"]
  readonly notices: Pick<Notices, "put">
}

export interface Broadcast {
  /** For the length of the scope. */
  readonly join: (member: Member) => Effect.Effect<void, never, Scope.Scope>
  /** Tells everybody who logs in with the same. */
  readonly authChanged: (
    auth: Auth["Service"],
    status: Params<typeof AuthStatusChange>,
  ) => Effect.Effect<void>
  /** Tells everybody. */
  readonly limitsChanged: (limits: Params<typeof AccountRateLimitsUpdated>) => Effect.Effect<void>
  readonly size: () => number
}

export const make = (): Broadcast => {
  const members = new Set<Member>()
  return {
    join: (member) =>
      Effect.asVoid(
        Effect.acquireRelease(
          Effect.sync(() => members.add(member)),
          () => Effect.sync(() => members.delete(member)),
        ),
      ),
    authChanged: (auth, status) =>
      Effect.sync(() => {
        for (const member of members) {
          if (member.auth === auth) member.notices.put(AuthStatusChange, status, "latest")
        }
      }),
    limitsChanged: (limits) =>
      Effect.sync(() => {
        for (const { notices } of members) notices.put(AccountRateLimitsUpdated, limits, "latest")
      }),
    size: () => members.size,
  }
}

const known = new WeakMap<ConversationManager["Service"], Broadcast>()

/** That of the manager's connections. */
export const broadcastOf = (manager: ConversationManager["Service"]): Broadcast => {
  const audience = known.get(manager) ?? make()
  known.set(manager, audience)
  return audience
}
