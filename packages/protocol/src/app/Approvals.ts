/**
 * Requests that the server sends to its client: approvals and forms. The params of an approval exist in two spellings,
 * camelCase (October 2025) and snake_case (September 2025); the client chooses one in `initialize`. An error, and a result
 * that cannot be read, denies the approval (L7). The wire: packages/docs/wire/app-server.md.
 */
import * as Schema from "effect/Schema"
import { ParsedCommand } from "../events/CommandEvents.ts"
import { FileChange } from "../events/PatchEvents.ts"
import { request } from "../Method.ts"
import { ReviewDecision } from "../Policy.ts"
import { maybe, Open } from "./Fields.ts"

const result = Schema.Struct({ decision: ReviewDecision })

const fileChanges = Schema.Record(Schema.String, FileChange)

/** The approval of a patch. */
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
  doc: "Asks whether a patch may be applied to these files.",
})

/** The approval of a command. */
export const ExecCommandApproval = request("execCommandApproval", {
  params: Schema.Union([
    Schema.Struct({
      conversationId: Schema.String,
      callId: Schema.String,
      /** The words of the command line. */
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
  doc: "Asks whether a command may run.",
})

/** The form of a tool server. */
export const ElicitationRequest = request("elicitationRequest", {
  params: Schema.Struct({
    conversationId: Schema.String,
    /** `call_id` of the `approval_resolved` event for this question. */
    elicitationId: Schema.String,
    /** Name of the tool server in the configuration. The members below come from that server. */
    serverName: Schema.String,
    message: Schema.String,
    /** JSON Schema of the object to be filled in. */
    requestedSchema: Open,
  }),
  result: Schema.Struct({
    /** `cancel`: the person made no choice. */
    action: Schema.Literals(["accept", "decline", "cancel"]),
    /** Used with `accept` only; at most 64 Ki characters of JSON. */
    content: maybe(Open),
  }),
  since: "colloquy 0.1",
  capability: "elicitation",
  doc: "A tool server asks the person to fill in a form: `elicitation/create` of the Model Context Protocol, passed on. It is declined when no listening client can show forms.",
})
