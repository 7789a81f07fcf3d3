/** `permissionProfile/list`: the built-in sets of permissions; all of them may be chosen. */
import type { PermissionProfileList } from "@colloquy/protocol/thread/Models"
import type { HostHandler } from "../HostCall.ts"
import { pageOf } from "../HostCall.ts"

const profiles = [
  [":read-only", "Commands may read files and change nothing."],
  [":workspace", "Commands may change files in the working directory."],
  [":danger-full-access", "Commands are not confined."],
] as const

/** Handler of the method. */
export const permissionProfileList: HostHandler<typeof PermissionProfileList> = (params) =>
  pageOf(
    profiles.map(([id, description]) => ({ id, description, allowed: true })),
    params,
  )
