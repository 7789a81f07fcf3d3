/** `permissionProfile/list`: the built-in sets of permissions; all of them may be chosen. */
import type { PermissionProfileList } from "@colloquy/protocol/thread/Models"
import type { HostHandler } from "../HostCall.ts"
import { pageOf } from "../HostCall.ts"
import { permissionProfiles } from "../../PermissionProfiles.ts"

/** Handler of the method. */
export const permissionProfileList: HostHandler<typeof PermissionProfileList> = (params) =>
  pageOf(
    permissionProfiles.map(({ description, id }) => ({ id, description, allowed: true })),
    params,
  )
