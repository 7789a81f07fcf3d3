/**
 * The connections that speak this dialect with one manager, and what all of them are told (§3.9). Holds nothing of a
 * connection that is gone.
 */
import type { SharedState } from "../../SharedState.ts"
import { AccountRateLimitsUpdated, AuthStatusChange } from "@colloquy/protocol/app/Account"
import type { Params } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Auth } from "../ports/AuthPort.ts"
import type { Notices } from "./Notices.ts"

/** A connection that takes part. */
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
  /** Notifies the connections of the same principal. */
  readonly limitsChanged: (limits: Params<typeof AccountRateLimitsUpdated>) => Effect.Effect<void>
  readonly size: () => number
}

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
          if (member.auth === auth) member.notices.put(AuthStatusChange, status, "latest")
        }
      }),
    limitsChanged: (limits) =>
      Effect.sync(() => {
        for (const [{ notices }, of] of members) {
          if (of === principal) notices.put(AccountRateLimitsUpdated, limits, "latest")
        }
      }),
    size: () => members.size,
  })
}

/** The broadcasts of one server, by principal. */
export const broadcasts: SharedState<(principal: string) => Broadcast> = {
  make: () => Effect.sync(make),
}
