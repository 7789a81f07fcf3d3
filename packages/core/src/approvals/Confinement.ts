/** How a command is confined once it runs. */
import type { SandboxPolicy } from "@colloquy/protocol/Policy"

/** The sandbox policies that confine a command; under every other policy nothing is confined. */
export type ConfiningPolicy = Extract<
  SandboxPolicy,
  { readonly mode: "read-only" | "workspace-write" }
>

/** The policy that confines the command, or `none` for a command without a sandbox. */
export type Confinement = "none" | ConfiningPolicy
