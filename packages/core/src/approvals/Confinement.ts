/** How a command is confined once it runs. */
import type { FurtherPermissions, SandboxPolicy } from "@colloquy/protocol/Policy"

/** The sandbox policies that confine a command; under every other policy nothing is confined. */
export type ConfiningPolicy = Extract<
  SandboxPolicy,
  { readonly mode: "read-only" | "workspace-write" }
> & {
  /** What a person has granted beyond the policy. Paths without symbolic links. */
  readonly granted?: FurtherPermissions
}

/** True when commands under the policy may use the network. */
export const allowsNetwork = (policy: ConfiningPolicy): boolean =>
  policy.granted?.network === true ||
  (policy.mode === "workspace-write" && policy.network_access === true)

/** The policy that confines the command, or `none` for a command without a sandbox. */
export type Confinement = "none" | ConfiningPolicy
