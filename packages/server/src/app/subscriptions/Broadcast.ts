/**
 * The connections of this dialect that share one manager, and the notifications that all of them get: a change of the
 * login, and new rate limits. Keeps nothing of a connection that has closed.
 */
import type { ConversationManager } from "@colloquy/core/ConversationManager"
import { AccountRateLimitsUpdated, AuthStatusChange } from "@colloquy/protocol/app/Account"
import type { Params } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Auth } from "../ports/AuthPort.ts"
import type { Notices } from "./Notices.ts"

/** A connection that gets the notifications. */
export interface Member {
  /** Connections with another login service are not notified of a change of this one. */
  readonly auth: Auth["Service"]
  readonly notices: Pick<Notices, "put">
}

/** See the header. Nothing here waits for a client. */
export interface Broadcast {
  /** Adds a connection until the scope closes. */
  readonly join: (member: Member) => Effect.Effect<void, never, Scope.Scope>
  /** Notifies the connections that use this login service. */
  readonly authChanged: (
    auth: Auth["Service"],
    status: Params<typeof AuthStatusChange>,
  ) => Effect.Effect<void>
  /** Notifies all connections. */
  readonly limitsChanged: (limits: Params<typeof AccountRateLimitsUpdated>) => Effect.Effect<void>
  /** Number of connections. */
  readonly size: () => number
}

/** Makes one without connections. */
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
  const broadcast = known.get(manager) ?? make()
  known.set(manager, broadcast)
  return broadcast
}
