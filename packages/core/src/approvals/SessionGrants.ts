/**
 * The grants of `approved_for_session`: canonical texts of approved requests, compared for equality. Pure.
 *
 * The grant of a command contains its exact words, its directory and its sandbox; with another word, directory or sandbox
 * the question is asked again. The grant of a patch contains only its `grant_root`: it covers a later patch that names the
 * same root and whose every path, move targets included, is below it. Paths are compared as text, because the tool
 * resolves symbolic links before it asks. The grant of a tool of the application contains its name and its exact arguments.
 */
import type { SandboxPolicy } from "@colloquy/protocol/Policy"
import type { ApprovalRequest, PatchApproval } from "./Approval.ts"

/** Most grants of a conversation. The oldest is dropped first; its question is asked again then. */
const maxGrants = 1024

/** The same text for policies with the same meaning: an absent member means false or none. */
const canonicalSandbox = (policy: SandboxPolicy): unknown =>
  policy.mode === "workspace-write"
    ? {
        mode: policy.mode,
        writable_roots: [...new Set(policy.writable_roots)].toSorted(),
        network_access: policy.network_access ?? false,
        exclude_tmpdir_env_var: policy.exclude_tmpdir_env_var ?? false,
        exclude_slash_tmp: policy.exclude_slash_tmp ?? false,
      }
    : policy.mode === "external-sandbox"
      ? { mode: policy.mode, network_access: policy.network_access ?? false }
      : { mode: policy.mode }

/** The grant of a request that is approved for the session; undefined when it grants nothing beyond itself. */
export const grantOf = (request: ApprovalRequest): string | undefined => {
  if (request._tag === "Patch") {
    return request.grantRoot === undefined
      ? undefined
      : JSON.stringify({ grant_root: request.grantRoot })
  }
  // Permissions are held as what they allow, see `decider/HeldPermissions.ts`.
  if (request._tag === "Permissions") return undefined
  if (request._tag === "Tool") {
    const { arguments: args, server, tool } = request
    return JSON.stringify({ ...(server === undefined ? {} : { server }), tool, arguments: args })
  }
  return JSON.stringify({
    command: request.command,
    cwd: request.cwd,
    sandbox: canonicalSandbox(request.sandbox),
  })
}

const isBelow = (path: string, root: string): boolean =>
  path.startsWith(root.endsWith("/") ? root : `${root}/`) &&
  !path.split("/").some((part) => part === "." || part === "..")

const pathsOf = ({ changes }: PatchApproval): ReadonlyArray<string> =>
  Object.entries(changes).flatMap(([path, change]) =>
    "update" in change && change.update.move_path !== null
      ? [path, change.update.move_path]
      : [path],
  )

/** The grant that covers the request, if any. */
export const grantFor = (
  grants: ReadonlyArray<string>,
  request: ApprovalRequest,
): string | undefined => {
  const grant = grantOf(request)
  if (grant === undefined || !grants.includes(grant)) return undefined
  if (request._tag !== "Patch") return grant
  const root = request.grantRoot ?? ""
  return pathsOf(request).every((path) => isBelow(path, root)) ? grant : undefined
}

/** The grants with one more. */
export const remember = (grants: ReadonlyArray<string>, grant: string): ReadonlyArray<string> =>
  grants.includes(grant) ? grants : [...grants, grant].slice(-maxGrants)
