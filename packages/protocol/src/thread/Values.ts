/**
 * Values that several methods of app-server v2 share. In results and notifications every member is written, and one without
 * a value is null; in params an optional member may be absent or null alike. The wire:
 * packages/docs/wire/app-server-v2.md.
 */
import * as Schema from "effect/Schema"
import { ImageUrl } from "../text/ImageUrl.ts"
import { SystemText } from "../text/SystemText.ts"
import * as SchemaTransformation from "effect/SchemaTransformation"

/** A member that is written also when it has no value, as null. */
export const orNull = <S extends Schema.Top>(schema: S): Schema.NullOr<S> => Schema.NullOr(schema)

/** An optional member of params; null means the same as absent. */
export const maybe = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

/** A member that the original writes as null where this program has no such thing. */
export const none = Schema.Null

const Later = Schema.Union([Schema.String, Schema.Record(Schema.String, Schema.Unknown)])

/** A value that a later version of the server has added. It encodes back unchanged. */
export interface Unknown {
  readonly unknown: typeof Later.Type
}

const Unknown = Later.pipe(
  Schema.decodeTo(
    Schema.Struct({ unknown: Schema.toType(Later) }),
    SchemaTransformation.transform({
      decode: (unknown) => ({ unknown }),
      encode: ({ unknown }) => unknown,
    }),
  ),
)

/** What a server sends: a value that is known, or one that a later version has added. */
export const orUnknown = <S extends Schema.Top>(known: S) => Schema.Union([known, Unknown])

/** An object whose members are passed through. */
export const Open = Schema.Record(Schema.String, Schema.Unknown)

/** Milliseconds since the epoch. */
export const atMs = Schema.Int
/** Seconds since the epoch. */
export const atSeconds = Schema.Int

/** What commands of a thread may change. */
export const SandboxPolicy = Schema.Union([
  Schema.Struct({ type: Schema.Literal("dangerFullAccess") }),
  Schema.Struct({ type: Schema.Literal("readOnly"), networkAccess: Schema.Boolean }),
  Schema.Struct({
    type: Schema.Literal("workspaceWrite"),
    /** Absolute paths, besides the working directory. */
    writableRoots: Schema.Array(Schema.String),
    networkAccess: Schema.Boolean,
    excludeTmpdirEnvVar: Schema.Boolean,
    excludeSlashTmp: Schema.Boolean,
  }),
  Schema.Struct({
    type: Schema.Literal("externalSandbox"),
    networkAccess: Schema.Literals(["restricted", "enabled"]),
  }),
]).annotate({ identifier: "SandboxPolicy" })
/** A decoded `SandboxPolicy`. */
export type SandboxPolicy = typeof SandboxPolicy.Type

/** A `SandboxPolicy` in params, where members have defaults: no network, no further roots. */
export const SandboxPolicyParam = Schema.Union([
  Schema.Struct({ type: Schema.Literal("dangerFullAccess") }),
  Schema.Struct({ type: Schema.Literal("readOnly"), networkAccess: maybe(Schema.Boolean) }),
  Schema.Struct({
    type: Schema.Literal("workspaceWrite"),
    writableRoots: maybe(Schema.Array(SystemText)),
    networkAccess: maybe(Schema.Boolean),
    excludeTmpdirEnvVar: maybe(Schema.Boolean),
    excludeSlashTmp: maybe(Schema.Boolean),
  }),
  Schema.Struct({
    type: Schema.Literal("externalSandbox"),
    networkAccess: maybe(Schema.Literals(["restricted", "enabled"])),
  }),
]).annotate({ identifier: "SandboxPolicyParam" })
/** A decoded `SandboxPolicyParam`. */
export type SandboxPolicyParam = typeof SandboxPolicyParam.Type

/** How far commands are confined, by name. */
export const SandboxMode = Schema.Literals(["read-only", "workspace-write", "danger-full-access"])

/** The annotation of a value that is experimental wherever it occurs: how an error names it. */
export const experimentalValue = "colloquy/experimental"

/** Which questions of a policy with single switches are asked. */
export const GranularApproval = Schema.Struct({
  granular: Schema.Struct({
    sandbox_approval: Schema.Boolean,
    rules: Schema.Boolean,
    skill_approval: maybe(Schema.Boolean),
    request_permissions: maybe(Schema.Boolean),
    mcp_elicitations: Schema.Boolean,
  }),
}).annotate({ [experimentalValue]: "askForApproval.granular" })

/** When a person must approve, in params. The object with single switches is experimental. */
export const AskForApprovalParam = Schema.Union([
  Schema.Literals(["untrusted", "on-request", "never"]),
  GranularApproval,
]).annotate({ identifier: "AskForApprovalParam" })
/** A decoded `AskForApprovalParam`. */
export type AskForApprovalParam = typeof AskForApprovalParam.Type

/** When a person must approve. `on-failure` can be set in config.toml and by clients of app-server v1 only. */
export const AskForApproval = Schema.Union([
  Schema.Literals(["untrusted", "on-failure", "on-request", "never"]),
  GranularApproval,
]).annotate({ identifier: "AskForApproval" })
/** A decoded `AskForApproval`. */
export type AskForApproval = typeof AskForApproval.Type

/** Who answers approvals. */
export const ApprovalsReviewer = Schema.Literals(["user"])

/**
 * Who the client wants to answer approvals. Here it is always the user: where the client asks for a model that reviews them,
 * the user is asked instead.
 */
export const ApprovalsReviewerParam = Schema.Literals(["user", "auto_review", "guardian_subagent"])

/** How the model speaks. */
export const Personality = Schema.Literals(["none", "friendly", "pragmatic"])

/** How detailed the summaries of reasoning are. */
export const ReasoningSummary = Schema.Literals(["auto", "concise", "detailed", "none"])

const TextElement = Schema.Struct({
  /** In bytes of UTF-8 of the text. */
  byteRange: Schema.Struct({ start: Schema.Int, end: Schema.Int }),
  placeholder: maybe(Schema.String),
})

const named = { name: Schema.String, path: SystemText }

/** One part of a user's input, in params. */
export const UserInputParam = Schema.Union([
  Schema.Struct({
    type: Schema.Literal("text"),
    text: Schema.String,
    text_elements: maybe(Schema.Array(TextElement)),
  }),
  /** A data URL; other URLs are refused. */
  Schema.Struct({
    type: Schema.Literal("image"),
    url: ImageUrl,
    detail: maybe(Schema.String),
  }),
  Schema.Struct({
    type: Schema.Literal("localImage"),
    path: SystemText,
    detail: maybe(Schema.String),
  }),
  Schema.Struct({ type: Schema.Literal("skill"), ...named }),
  Schema.Struct({ type: Schema.Literal("mention"), ...named }),
]).annotate({ identifier: "UserInputParam" })
/** A decoded `UserInputParam`. */
export type UserInputParam = typeof UserInputParam.Type

/** One part of a user's input, in items. */
export const UserInput = Schema.Union([
  Schema.Struct({
    type: Schema.Literal("text"),
    text: Schema.String,
    text_elements: Schema.Array(
      Schema.Struct({
        byteRange: Schema.Struct({ start: Schema.Int, end: Schema.Int }),
        placeholder: orNull(Schema.String),
      }),
    ),
  }),
  Schema.Struct({
    type: Schema.Literal("image"),
    url: Schema.String,
    detail: orNull(Schema.String),
  }),
  Schema.Struct({
    type: Schema.Literal("localImage"),
    path: SystemText,
    detail: orNull(Schema.String),
  }),
  Schema.Struct({ type: Schema.Literal("skill"), ...named }),
  Schema.Struct({ type: Schema.Literal("mention"), ...named }),
]).annotate({ identifier: "UserInput" })
/** A decoded `UserInput`. */
export type UserInput = typeof UserInput.Type

/** Tokens by their kind. */
export const TokenCounts = Schema.Struct({
  totalTokens: Schema.Int,
  inputTokens: Schema.Int,
  cachedInputTokens: Schema.Int,
  cacheWriteInputTokens: Schema.Int,
  outputTokens: Schema.Int,
  reasoningOutputTokens: Schema.Int,
}).annotate({ identifier: "TokenCounts" })

/** Tokens of the thread so far and of its last response. */
export const TokenUsage = Schema.Struct({
  total: TokenCounts,
  last: TokenCounts,
  modelContextWindow: orNull(Schema.Int),
}).annotate({ identifier: "TokenUsage" })
/** A decoded `TokenUsage`. */
export type TokenUsage = typeof TokenUsage.Type

const httpStatus = Schema.Struct({ httpStatusCode: orNull(Schema.Int) })

/** The kind of a failure, for clients. */
export const ErrorInfo = Schema.Union([
  Schema.Literals([
    "contextWindowExceeded",
    "sessionBudgetExceeded",
    "usageLimitExceeded",
    "rateLimitExceeded",
    "serverOverloaded",
    "internalServerError",
    "unauthorized",
    "badRequest",
    "threadRollbackFailed",
    "sandboxError",
    "other",
  ]),
  Schema.Struct({ httpConnectionFailed: httpStatus }),
  Schema.Struct({ responseStreamConnectionFailed: httpStatus }),
  Schema.Struct({ responseStreamDisconnected: httpStatus }),
  Schema.Struct({ responseTooManyFailedAttempts: httpStatus }),
  Schema.Struct({
    activeTurnNotSteerable: Schema.Struct({ turnKind: Schema.Literals(["review", "compact"]) }),
  }),
]).annotate({ identifier: "ErrorInfo" })
/** A decoded `ErrorInfo`. */
export type ErrorInfo = typeof ErrorInfo.Type

/** Why a turn failed, or a request to its model. */
export const TurnError = Schema.Struct({
  message: Schema.String,
  codexErrorInfo: orNull(orUnknown(ErrorInfo)),
  /** The cause, where `message` is about the repetition of the request. */
  additionalDetails: orNull(Schema.String),
  misalignment: none,
}).annotate({ identifier: "TurnError" })
/** A decoded `TurnError`. */
export type TurnError = typeof TurnError.Type

/** What a thread waits for, if anything. */
export const ThreadStatus = Schema.Union([
  Schema.Struct({ type: Schema.Literals(["notLoaded", "idle", "systemError"]) }),
  Schema.Struct({
    type: Schema.Literal("active"),
    activeFlags: Schema.Array(Schema.Literals(["waitingOnApproval", "waitingOnUserInput"])),
  }),
]).annotate({ identifier: "ThreadStatus" })
/** A decoded `ThreadStatus`. */
export type ThreadStatus = typeof ThreadStatus.Type

/** One page: how many, from where, in which direction. */
export const pageParams = {
  cursor: maybe(Schema.String),
  limit: maybe(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 0xffff_ffff }))),
}

/** The direction of a list. */
export const SortDirection = Schema.Literals(["asc", "desc"])
