/**
 * What becomes of a patch: apply it, and how confined; ask a person; or refuse it (§6.13). One pure function; it
 * writes and asks nothing. L15: a patch is applied without the sandbox only under a policy that says so, or behind a
 * question.
 */
import type { FileChange } from "@colloquy/protocol/events/PatchEvents"
import type { AskForApproval, SandboxPolicy } from "@colloquy/protocol/Policy"
import type { Confinement } from "@colloquy/core/approvals/Confinement"
import { type SandboxAvailability, sandboxMissing } from "./CommandPolicy.ts"
import { isWritable, type Writable } from "./WritableRoots.ts"

export interface PatchRequest {
  /** Every path it touches, move targets included; absolute, links resolved. */
  readonly paths: ReadonlyArray<string>
  readonly approvalPolicy: AskForApproval
  readonly sandboxPolicy: SandboxPolicy
  /** Of that policy. */
  readonly writable: Writable
  readonly sandbox: SandboxAvailability
  /** True: a person has approved such a one before, for the session. */
  readonly isGranted: boolean
}

export type PatchDecision =
  | {
      readonly _tag: "Apply"
      readonly confinement: Confinement
      /** True: where the sandbox seems to have denied something, a person is asked to apply it without. */
      readonly escalateOnDenial: boolean
    }
  | {
      readonly _tag: "Ask"
      /** For the person. */
      readonly reason?: string
      /** How it is applied once approved: wider than the policy only where the policy would not do. */
      readonly thenConfinement: Confinement
    }
  | {
      readonly _tag: "Reject"
      readonly cause: "Empty" | "OutsideRoots" | "SandboxUnavailable"
      /** For the model. */
      readonly output: string
    }

/** The paths of changes, move targets included. */
export const touchedPaths = (
  changes: Readonly<Record<string, FileChange>>,
): ReadonlyArray<string> =>
  Object.entries(changes).flatMap(([path, change]) =>
    "update" in change && change.update.move_path !== null
      ? [path, change.update.move_path]
      : [path],
  )

const reject = (
  cause: Extract<PatchDecision, { _tag: "Reject" }>["cause"],
  reason: string,
): PatchDecision => ({ _tag: "Reject", cause, output: `patch rejected: ${reason}` })

/** What confines the writing; or why something that has to cannot. */
const confinementOf = ({
  sandbox,
  sandboxPolicy,
}: PatchRequest): { readonly by: Confinement } | { readonly missing: string } => {
  if (sandboxPolicy.mode === "danger-full-access" || sandboxPolicy.mode === "external-sandbox") {
    return { by: "none" }
  }
  return sandbox._tag === "Available" ? { by: sandboxPolicy } : { missing: sandboxMissing(sandbox) }
}

/**
 * An empty patch is refused under every policy; a granted one is not asked for again. A question on a machine that cannot
 * confine says so, whatever else it is asked for.
 */
export const decidePatch = (request: PatchRequest): PatchDecision => {
  const { approvalPolicy, isGranted, paths, writable } = request
  if (paths.length === 0) return reject("Empty", "empty patch")
  const allWritable = paths.every((path) => isWritable(writable, path))
  const confinement = confinementOf(request)
  const thenConfinement = allWritable && "by" in confinement ? confinement.by : "none"
  const ask: PatchDecision = {
    _tag: "Ask",
    ...("missing" in confinement ? { reason: confinement.missing } : {}),
    thenConfinement,
  }
  if (isGranted) return { _tag: "Apply", confinement: thenConfinement, escalateOnDenial: false }
  if (approvalPolicy === "untrusted") return ask
  if (!allWritable && approvalPolicy !== "on-failure") {
    return approvalPolicy === "never"
      ? reject("OutsideRoots", "writing outside of the project; rejected by user approval settings")
      : ask
  }
  if ("missing" in confinement) {
    return approvalPolicy === "never" ? reject("SandboxUnavailable", confinement.missing) : ask
  }
  const escalateOnDenial = approvalPolicy === "on-failure" && confinement.by !== "none"
  return { _tag: "Apply", confinement: confinement.by, escalateOnDenial }
}
