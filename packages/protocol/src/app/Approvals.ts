/**
 * What the server asks its client (§3.8). Each question of an approval has two spellings of the same params: those of
 * October first. An error, and an answer that cannot be read, is a denial.
 */
import * as Schema from "effect/Schema"
import { ParsedCommand } from "../events/CommandEvents.ts"
import { FileChange } from "../events/PatchEvents.ts"
import { request } from "../Method.ts"
import { ReviewDecision } from "../Policy.ts"
import { maybe, Open } from "./Fields.ts"

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

export const ElicitationRequest = request("elicitationRequest", {
  params: Schema.Struct({
    conversationId: Schema.String,
    /** What `approval_resolved` calls it by. */
    elicitationId: Schema.String,
    /** Who asks, as the configuration names it. What follows is said by it and not by this server. */
    serverName: Schema.String,
    message: Schema.String,
    /** JSON Schema of the object to be filled in. */
    requestedSchema: Open,
  }),
  result: Schema.Struct({
    /** `cancel`: nobody chose. */
    action: Schema.Literals(["accept", "decline", "cancel"]),
    /** Counts with `accept`; 64 Ki characters of JSON at most. */
    content: maybe(Open),
  }),
  since: "colloquy 0.1",
  capability: "elicitation",
  doc: "A tool server asks for something to be filled in: `elicitation/create` of the Model Context Protocol, passed on. Where no client that listens can show it, it is declined.",
})
