/**
 * The permissions that a person has granted beyond the sandbox policy: a fold of `approval_resolved` events, so those of the
 * session last as long as the log. Those of a turn end with it. Pure.
 *
 *     asked ── approved ─────────────▶ held until the turn ends
 *       └───── approved_for_session ─▶ held as long as the log
 */
import type { EventOf } from "@colloquy/protocol/EventMsg"
import type { FurtherPermissions } from "@colloquy/protocol/Policy"
import type { Verdict } from "../approvals/Approval.ts"
import type { QuestionRequest } from "../approvals/Elicitation.ts"
import { covers, intersection, isNone, none, union } from "../approvals/Permissions.ts"

/** The permissions that are held. */
export interface HeldPermissions {
  readonly session: FurtherPermissions
  readonly turn: FurtherPermissions
}

/** What may be done now. */
export const heldNow = (held: HeldPermissions | undefined): FurtherPermissions =>
  held === undefined ? none : union(held.session, held.turn)

/** The permissions after a resolution. One that only repeats what is held changes nothing. */
export const addResolved = (
  held: HeldPermissions | undefined,
  { decision, permissions, reason }: EventOf<"approval_resolved">,
): HeldPermissions | undefined => {
  if (permissions === undefined || reason === "granted") return held
  const { session, turn } = held ?? { session: none, turn: none }
  switch (decision) {
    case "approved":
      return { session, turn: union(turn, permissions) }
    case "approved_for_session":
      return { session: union(session, permissions), turn }
    default:
      return held
  }
}

/** The permissions after the end of the turn. */
export const afterTurn = (held: HeldPermissions | undefined): HeldPermissions | undefined =>
  held === undefined || isNone(held.turn) ? held : { ...held, turn: none }

/** The verdict on a question whose permissions are held already; undefined when a person has to be asked. */
export const verdictOfHeld = (
  held: HeldPermissions | undefined,
  request: QuestionRequest,
): Verdict | undefined => {
  if (request._tag !== "Permissions" || held === undefined) return undefined
  const { permissions } = request
  if (covers(held.session, permissions)) {
    return { decision: "approved_for_session", reason: "granted", permissions }
  }
  return covers(heldNow(held), permissions)
    ? { decision: "approved", reason: "granted", permissions }
    : undefined
}

/**
 * The verdict with what it grants: of what was answered only what was asked for, and all of it where the answer names
 * nothing. An approval that grants nothing is a denial. Verdicts on other questions are unchanged.
 */
export const granting = (
  request: QuestionRequest,
  verdict: Verdict,
  answered?: FurtherPermissions,
): Verdict => {
  if (request._tag !== "Permissions" || !verdict.decision.startsWith("approved")) return verdict
  const permissions = intersection(request.permissions, answered ?? request.permissions)
  return isNone(permissions) ? { ...verdict, decision: "denied" } : { ...verdict, permissions }
}
