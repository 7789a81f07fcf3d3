/**
 * The sandbox policy of a turn with what a person has granted beyond it. Only a policy that confines gets wider; one without
 * confinement stays as it is. Part of L15: the sandbox allows what was granted, and it stays a sandbox.
 */
import type { ConfiningPolicy } from "@colloquy/core/approvals/Confinement"
import type { ToolContext } from "@colloquy/core/ToolRuntime"
import type { FurtherPermissions, SandboxPolicy } from "@colloquy/protocol/Policy"
import * as Effect from "effect/Effect"
import { confines } from "./CommandPolicy.ts"

/** A policy, with what was granted if it confines. */
export type GrantedPolicy = SandboxPolicy | ConfiningPolicy

/** The policy with these permissions. */
export const withPermissions = (
  policy: SandboxPolicy,
  granted: FurtherPermissions,
): GrantedPolicy =>
  confines(policy) && Object.keys(granted).length > 0 ? { ...policy, granted } : policy

/** The policy that holds now: what is granted later in the turn is not in it. */
export const currentPolicy = ({
  permissions,
  settings,
}: Pick<ToolContext, "permissions" | "settings">): Effect.Effect<GrantedPolicy> =>
  Effect.map(permissions, (granted) => withPermissions(settings.sandboxPolicy, granted))
