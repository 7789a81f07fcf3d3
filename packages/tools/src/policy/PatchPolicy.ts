/**
 * Decides about a patch: apply it, and how confined; ask a person; or reject it. One pure function; it writes nothing
 * and decides without asking. L15: a patch is applied without the sandbox only under a policy that says so, or after a
 * question.
 */
import type { FileChange } from "@colloquy/protocol/events/PatchEvents"
import type { AskForApproval, SandboxPolicy } from "@colloquy/protocol/Policy"
import type { Confinement, ConfiningPolicy } from "@colloquy/core/approvals/Confinement"
import { type SandboxAvailability, sandboxMissing } from "./CommandPolicy.ts"
import { isWritable, type Writable } from "./WritableRoots.ts"

/** A patch to decide about. */
export interface PatchRequest {
  /** Every path that the patch changes, move targets included; absolute, links resolved. */
  readonly paths: ReadonlyArray<string>
  readonly approvalPolicy: AskForApproval
  readonly sandboxPolicy: SandboxPolicy | ConfiningPolicy
  /** What `sandboxPolicy` lets be written. */
  readonly writable: Writable
  readonly sandbox: SandboxAvailability
  /** True: a person has approved exactly this patch for the session. */
  readonly isGranted: boolean
}

/** The decision about a patch. */
export type PatchDecision =
  | {
      readonly _tag: "Apply"
      readonly confinement: Confinement
      /**
       * True: when the sandbox seems to have denied something, a person is asked whether to apply it without sandbox.
       */
      readonly escalateOnDenial: boolean
    }
  | {
      readonly _tag: "Ask"
      /** The reason that the person reads. */
      readonly reason?: string
      /** The confinement after approval: wider than the policy only where the policy does not suffice. */
      readonly thenConfinement: Confinement
    }
  | {
      readonly _tag: "Reject"
      readonly cause: "Empty" | "OutsideRoots" | "SandboxUnavailable"
      /** The output for the model. */
      readonly output: string
    }

/** The paths of the changes, move targets included. */
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

/** The confinement of the writing, or why it cannot be confined although it has to be. */
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
 * Decides about a patch. An empty patch is rejected under every policy; a granted one is not asked for again. On a
 * machine that cannot confine, a question says so, whatever else it is asked for.
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
