/** Events about commands: start, output, end, and the approval that a command may need. */
import * as Schema from "effect/Schema"
import { event, original } from "../EventDefinition.ts"
import { WireDuration } from "./WireDuration.ts"

const callId = Schema.String
const command = Schema.Array(Schema.String)
/** Who runs the command: `user_shell` for the user. Absent, and with every other word of the original: the agent. */
const source = Schema.optionalKey(Schema.String)

/** What a command does, as far as its words show it: for display only, never for a decision. */
export const ParsedCommand = Schema.Union([
  Schema.Struct({ type: Schema.Literal("read"), cmd: Schema.String, name: Schema.String }),
  Schema.Struct({
    type: Schema.Literal("list_files"),
    cmd: Schema.String,
    path: Schema.NullOr(Schema.String),
  }),
  Schema.Struct({
    type: Schema.Literal("search"),
    cmd: Schema.String,
    query: Schema.NullOr(Schema.String),
    path: Schema.NullOr(Schema.String),
  }),
  Schema.Struct({ type: Schema.Literal("unknown"), cmd: Schema.String }),
]).annotate({ identifier: "ParsedCommand" })
/** A decoded `ParsedCommand`. */
export type ParsedCommand = typeof ParsedCommand.Type

/** The event `exec_command_begin`; its `doc` describes it. */
export const ExecCommandBegin = event(
  "exec_command_begin",
  {
    call_id: callId,
    command,
    cwd: Schema.String,
    parsed_cmd: Schema.optionalKey(Schema.Array(ParsedCommand)),
    source,
  },
  { ...original, doc: "A command has started.", synced: false },
)
/** A command has started. */
export type ExecCommandBegin = typeof ExecCommandBegin.Type

/** The event `exec_command_output_delta`; its `doc` describes it. */
export const ExecCommandOutputDelta = event(
  "exec_command_output_delta",
  {
    call_id: callId,
    stream: Schema.Literals(["stdout", "stderr"]),
    /** base64; the original sent byte arrays up to 0.36 */
    chunk: Schema.String,
  },
  { ...original, doc: "A chunk of a running command's output.", durable: false },
)
/** A chunk of a running command's output. */
export type ExecCommandOutputDelta = typeof ExecCommandOutputDelta.Type

/** The event `exec_command_end`; its `doc` describes it. */
export const ExecCommandEnd = event(
  "exec_command_end",
  {
    call_id: callId,
    stdout: Schema.String,
    stderr: Schema.String,
    aggregated_output: Schema.optionalKey(Schema.String),
    exit_code: Schema.Int,
    duration: WireDuration,
    formatted_output: Schema.optionalKey(Schema.String),
  },
  { ...original, doc: "A command has ended.", synced: false },
)
/** A command has ended. */
export type ExecCommandEnd = typeof ExecCommandEnd.Type

/** The event `exec_approval_request`; its `doc` describes it. */
export const ExecApprovalRequest = event(
  "exec_approval_request",
  {
    call_id: callId,
    command,
    cwd: Schema.String,
    reason: Schema.optionalKey(Schema.String),
    parsed_cmd: Schema.optionalKey(Schema.Array(ParsedCommand)),
  },
  { ...original, doc: "A command needs an approval before it may run." },
)
/** A command needs an approval before it may run. */
export type ExecApprovalRequest = typeof ExecApprovalRequest.Type
