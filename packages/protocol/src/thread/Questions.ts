/**
 * Requests that the server sends to subscribers of a thread. The same request goes to each of them with the same id; the
 * first answer counts, and `serverRequest/resolved` follows. An error, and a result that cannot be read, is a refusal (L7).
 */
import * as Schema from "effect/Schema"
import { request } from "../Method.ts"
import { CommandAction, ToolContent } from "./Items.ts"
import { atMs, maybe, none, Open, orNull } from "./Values.ts"

const since = "0.58"
const ofTurn = { threadId: Schema.String, turnId: Schema.String }
const ofItem = { ...ofTurn, itemId: Schema.String }

const CommandDecision = Schema.Union([
  Schema.Literals(["accept", "acceptForSession", "decline", "cancel"]),
  Schema.Struct({
    acceptWithExecpolicyAmendment: Schema.Struct({
      execpolicy_amendment: Schema.Array(Schema.String),
    }),
  }),
  Schema.Struct({
    applyNetworkPolicyAmendment: Schema.Struct({
      network_policy_amendment: Schema.Struct({ host: Schema.String, action: Schema.String }),
    }),
  }),
])
/** The answer to the approval of a command. `decline` denies it and the turn goes on; `cancel` also interrupts the turn. */
export type CommandDecision = typeof CommandDecision.Type

/** The approval of a command. */
export const CommandApproval = request("item/commandExecution/requestApproval", {
  params: Schema.Struct({
    kind: Schema.Literals(["command", "humanCommand", "writeStdin"]),
    ...ofItem,
    startedAtMs: atMs,
    environmentId: orNull(Schema.String),
    /** Why the model wants to run it so. */
    reason: Schema.optionalKey(Schema.String),
    command: Schema.optionalKey(Schema.String),
    cwd: Schema.optionalKey(Schema.String),
    commandActions: Schema.optionalKey(Schema.Array(CommandAction)),
    /** Words that commands may begin with from now on, if the user accepts that. */
    proposedExecpolicyAmendment: Schema.optionalKey(Schema.Array(Schema.String)),
    availableDecisions: Schema.optionalKey(Schema.Array(CommandDecision)),
    approvalId: Schema.optionalKey(Schema.String),
  }),
  result: Schema.Struct({ decision: CommandDecision }),
  since,
  doc: "Asks whether a command may run.",
})

/** The approval of a patch. */
export const FileChangeApproval = request("item/fileChange/requestApproval", {
  params: Schema.Struct({
    ...ofItem,
    startedAtMs: atMs,
    reason: orNull(Schema.String),
    grantRoot: orNull(Schema.String),
  }),
  result: Schema.Struct({
    decision: Schema.Literals(["accept", "acceptForSession", "decline", "cancel"]),
  }),
  since,
  doc: "Asks whether a patch may be applied; its changes are in the item.",
})

const Permissions = Schema.Struct({
  network: orNull(Schema.Struct({ enabled: orNull(Schema.Boolean) })),
  fileSystem: orNull(
    Schema.Struct({
      read: orNull(Schema.Array(Schema.String)),
      write: orNull(Schema.Array(Schema.String)),
      entries: Schema.optionalKey(Schema.Array(Schema.Unknown)),
    }),
  ),
})

/** What a result grants. Whatever else a permission says, such as that it denies, grants nothing. */
const Granted = Schema.Struct({
  network: maybe(Schema.Struct({ enabled: maybe(Schema.Boolean) })),
  fileSystem: maybe(
    Schema.Struct({
      read: maybe(Schema.Array(Schema.String)),
      write: maybe(Schema.Array(Schema.String)),
      /** With `read` or `write`, only what both grant counts. */
      entries: maybe(
        Schema.Array(
          Schema.Struct({
            path: Schema.Struct({ type: Schema.String, path: maybe(Schema.String) }),
            access: Schema.String,
          }),
        ),
      ),
    }),
  ),
})
/** What a result grants. */
export type GrantedPermissions = typeof Granted.Type

/** The approval of more permissions. */
export const PermissionsApproval = request("item/permissions/requestApproval", {
  params: Schema.Struct({
    ...ofItem,
    environmentId: orNull(Schema.String),
    startedAtMs: atMs,
    cwd: Schema.String,
    reason: orNull(Schema.String),
    permissions: Permissions,
  }),
  result: Schema.Struct({
    permissions: Granted,
    scope: maybe(Schema.Literals(["turn", "session"])),
  }),
  since: "0.110",
  doc: "Asks for more permissions than the sandbox gives. What the result leaves out is not granted.",
})

/** Questions of the agent to the user. */
export const RequestUserInput = request("item/tool/requestUserInput", {
  params: Schema.Struct({
    ...ofItem,
    questions: Schema.Array(
      Schema.Struct({
        id: Schema.String,
        header: Schema.String,
        question: Schema.String,
        isOther: Schema.Boolean,
        isSecret: Schema.Boolean,
        options: orNull(
          Schema.Array(Schema.Struct({ label: Schema.String, description: Schema.String })),
        ),
      }),
    ),
    isBlocking: Schema.Boolean,
    autoResolutionMs: none,
  }),
  result: Schema.Struct({
    answers: Schema.Record(Schema.String, Schema.Struct({ answers: Schema.Array(Schema.String) })),
  }),
  since: "0.92",
  doc: "The agent asks the user questions.",
})

/** A call of a tool of the client. */
export const ToolCall = request("item/tool/call", {
  params: Schema.Struct({
    ...ofTurn,
    callId: Schema.String,
    namespace: orNull(Schema.String),
    tool: Schema.String,
    arguments: Schema.Unknown,
  }),
  result: Schema.Struct({ contentItems: Schema.Array(ToolContent), success: Schema.Boolean }),
  since: "0.99",
  doc: "Calls a tool that the client gave to `thread/start`.",
})

/** The form of a tool server. */
export const McpElicitation = request("mcpServer/elicitation/request", {
  params: Schema.Struct({
    threadId: Schema.String,
    turnId: orNull(Schema.String),
    serverName: Schema.String,
    mode: Schema.Literals(["form", "url"]),
    _meta: Schema.NullOr(Open),
    message: Schema.String,
    requestedSchema: Schema.optionalKey(Open),
    url: Schema.optionalKey(Schema.String),
    elicitationId: Schema.optionalKey(Schema.String),
  }),
  result: Schema.Struct({
    action: Schema.Literals(["accept", "decline", "cancel"]),
    content: maybe(Schema.Unknown),
    _meta: maybe(Schema.Unknown),
  }),
  since: "0.110",
  doc: "A tool server asks the user to fill in a form, or a call of a tool that changes something needs an approval.",
})
