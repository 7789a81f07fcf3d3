/** The built-in sets of permissions of this dialect, each a sandbox mode under another name. Pure. */
import type { SandboxMode } from "@colloquy/protocol/Policy"

/** One set of permissions. */
export interface PermissionProfile {
  readonly id: string
  readonly description: string
  readonly sandbox: SandboxMode
}

/** All of them; each may be chosen. */
export const permissionProfiles: ReadonlyArray<PermissionProfile> = [
  {
    id: ":read-only",
    description: "Commands may read files and change nothing.",
    sandbox: "read-only",
  },
  {
    id: ":workspace",
    description: "Commands may change files in the working directory.",
    sandbox: "workspace-write",
  },
  {
    id: ":danger-full-access",
    description: "Commands are not confined.",
    sandbox: "danger-full-access",
  },
]
