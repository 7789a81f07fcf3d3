/** Events about changes of files: start and end of a patch, the approval that it may need, and the diff of the turn. */
import * as Schema from "effect/Schema"
import { event, original } from "../EventDefinition.ts"

const callId = Schema.String

/** What happens to one file: an object with one member, named after the kind of the change. */
export const FileChange = Schema.Union([
  Schema.Struct({ add: Schema.Struct({ content: Schema.String }) }),
  Schema.Struct({ delete: Schema.Struct({ content: Schema.String }) }),
  Schema.Struct({
    update: Schema.Struct({
      unified_diff: Schema.String,
      move_path: Schema.NullOr(Schema.String),
    }),
  }),
]).annotate({ identifier: "FileChange" })
/** A decoded `FileChange`. */
export type FileChange = typeof FileChange.Type

/** By path. */
const changes = Schema.Record(Schema.String, FileChange)

/** The event `apply_patch_approval_request`; its `doc` describes it. */
export const ApplyPatchApprovalRequest = event(
  "apply_patch_approval_request",
  {
    call_id: callId,
    changes,
    reason: Schema.optionalKey(Schema.String),
    grant_root: Schema.optionalKey(Schema.String),
  },
  { ...original, doc: "A patch needs an approval before it may be applied." },
)
/** A patch needs an approval before it may be applied. */
export type ApplyPatchApprovalRequest = typeof ApplyPatchApprovalRequest.Type

/** The event `patch_apply_begin`; its `doc` describes it. */
export const PatchApplyBegin = event(
  "patch_apply_begin",
  { call_id: callId, auto_approved: Schema.Boolean, changes },
  { ...original, doc: "A patch is being applied.", synced: false },
)
/** A patch is being applied. */
export type PatchApplyBegin = typeof PatchApplyBegin.Type

/** The event `patch_apply_end`; its `doc` describes it. */
export const PatchApplyEnd = event(
  "patch_apply_end",
  { call_id: callId, stdout: Schema.String, stderr: Schema.String, success: Schema.Boolean },
  { ...original, doc: "A patch was applied, or could not be applied.", synced: false },
)
/** A patch was applied, or could not be applied. */
export type PatchApplyEnd = typeof PatchApplyEnd.Type

/** The event `turn_diff`; its `doc` describes it. */
export const TurnDiff = event(
  "turn_diff",
  { unified_diff: Schema.String },
  { ...original, doc: "All changes of files in this turn so far, as one diff.", synced: false },
)
/** All changes of files in this turn so far, as one diff. */
export type TurnDiff = typeof TurnDiff.Type
