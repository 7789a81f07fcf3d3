/**
 * The connections of this dialect that share one server, and the notifications that all of them get: a change of the
 * login, and new rate limits. Keeps nothing of a connection that has closed.
 */
import type { SharedState } from "../../Server.ts"
import { AccountRateLimitsUpdated, AuthStatusChange } from "@colloquy/protocol/app/Account"
import type { Params } from "@colloquy/protocol/Method"
import * as ThreadAccounts from "@colloquy/protocol/thread/Accounts"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { rateLimitsOf } from "../../thread/host/RateLimits.ts"
import type { Auth } from "../ports/AuthPort.ts"
import type { ConnectionNotices } from "./ConnectionNotices.ts"

/** A connection that gets the notifications. */
interface Member {
  /** Connections with another login service are not notified of a change of this one. */
  readonly auth: Auth["Service"]
  readonly notices: Pick<ConnectionNotices, "put">
  /** True once the client uses threads and turns: it gets the notifications of that version instead. */
  readonly usesThreads: () => boolean
}

/** See the header. Nothing here waits for a client. */
export interface Broadcast {
  /** Adds a connection until the scope closes. */
  readonly join: (member: Member) => Effect.Effect<void, never, Scope.Scope>
  /** Notifies the connections that use this login service, of every principal. */
  readonly authChanged: (
    auth: Auth["Service"],
    status: Params<typeof AuthStatusChange>,
  ) => Effect.Effect<void>
  /** Notifies the connections of the same principal. */
  readonly limitsChanged: (limits: Params<typeof AccountRateLimitsUpdated>) => Effect.Effect<void>
  /** Number of connections. */
  readonly size: () => number
}

/** Makes one without connections. The result gives the part of a principal. */
export const make = (): ((principal: string) => Broadcast) => {
  const members = new Map<Member, string>()
  return (principal) => ({
    join: (member) =>
      Effect.asVoid(
        Effect.acquireRelease(
          Effect.sync(() => members.set(member, principal)),
          () => Effect.sync(() => members.delete(member)),
        ),
      ),
    authChanged: (auth, status) =>
      Effect.sync(() => {
        for (const member of members.keys()) {
          if (member.auth !== auth || member.usesThreads()) continue
          member.notices.put(AuthStatusChange, status, "latest")
        }
      }),
    limitsChanged: (limits) =>
      Effect.sync(() => {
        for (const [{ notices, usesThreads }, of] of members) {
          if (of !== principal) continue
          if (usesThreads()) {
            const rateLimits = rateLimitsOf(limits)
            notices.put(ThreadAccounts.AccountRateLimitsUpdated, { rateLimits }, "latest")
          } else {
            notices.put(AccountRateLimitsUpdated, limits, "latest")
          }
        }
      }),
    size: () => members.size,
  })
}

/** The broadcasts of one server, by principal. */
export const broadcasts: SharedState<(principal: string) => Broadcast> = {
  make: () => Effect.sync(make),
}
