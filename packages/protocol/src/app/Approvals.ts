/**
 * What the server asks its client (§3.8). Each question has two spellings of the same params: those of October first. An
 * error, and an answer that cannot be read, is a denial.
 */
import * as Schema from "effect/Schema"
import { FileChange, ParsedCommand } from "../EventMsg.ts"
import { request } from "../Method.ts"
import { ReviewDecision } from "../Policy.ts"

const result = Schema.Struct({ decision: ReviewDecision })

const fileChanges = Schema.Record(Schema.String, FileChange)

export const ApplyPatchApproval = request("applyPatchApproval", {
  params: Schema.Union([
    Schema.Struct({
      conversationId: Schema.String,
      callId: Schema.String,
      /** By absolute path. */
      fileChanges,
      reason: Schema.optionalKey(Schema.String),
      grantRoot: Schema.optionalKey(Schema.String),
    }),
    Schema.Struct({
      conversation_id: Schema.String,
      call_id: Schema.String,
      file_changes: fileChanges,
      reason: Schema.optionalKey(Schema.String),
      grant_root: Schema.optionalKey(Schema.String),
    }),
  ]),
  result,
  since: "0.25",
  doc: "May these files be changed?",
})

export const ExecCommandApproval = request("execCommandApproval", {
  params: Schema.Union([
    Schema.Struct({
      conversationId: Schema.String,
      callId: Schema.String,
      /** What will run, word by word. */
      command: Schema.Array(Schema.String),
      cwd: Schema.String,
      reason: Schema.optionalKey(Schema.String),
      parsedCmd: Schema.Array(ParsedCommand),
    }),
    Schema.Struct({
      conversation_id: Schema.String,
      call_id: Schema.String,
      command: Schema.Array(Schema.String),
      cwd: Schema.String,
      reason: Schema.optionalKey(Schema.String),
    }),
  ]),
  result,
  since: "0.25",
  doc: "May this command run?",
})
