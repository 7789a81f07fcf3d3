/**
 * What `approved_for_session` remembers (R21): canonical texts of what ran, compared for equality. Pure.
 *
 * A command is remembered with its exact words, its directory and its sandbox; another word, directory or sandbox is
 * asked again. Of a patch nothing is remembered but the `grant_root` it came with: a later patch is covered when it
 * names the very same root and every path it touches, move targets included, lies below it by its spelling. Paths are
 * compared as they are spelled: the tool resolves symbolic links before it asks.
 */
import type { SandboxPolicy } from "@colloquy/protocol/Policy"
import type { ApprovalRequest, PatchApproval } from "./Approval.ts"

/** More are forgotten, oldest first, and asked again: each was given by a person. */
const maxGrants = 1024

/** Policies that mean the same read the same (§4.3: absent is false or none). */
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

/** What is remembered when the request is approved for the session; undefined: nothing. */
export const grantOf = (request: ApprovalRequest): string | undefined => {
  if (request._tag === "Patch") {
    return request.grantRoot === undefined
      ? undefined
      : JSON.stringify({ grant_root: request.grantRoot })
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

/** The grant that covers the request. */
export const grantFor = (
  grants: ReadonlyArray<string>,
  request: ApprovalRequest,
): string | undefined => {
  const grant = grantOf(request)
  if (grant === undefined || !grants.includes(grant)) return undefined
  if (request._tag === "Exec") return grant
  const root = request.grantRoot ?? ""
  return pathsOf(request).every((path) => isBelow(path, root)) ? grant : undefined
}

export const remember = (grants: ReadonlyArray<string>, grant: string): ReadonlyArray<string> =>
  grants.includes(grant) ? grants : [...grants, grant].slice(-maxGrants)
