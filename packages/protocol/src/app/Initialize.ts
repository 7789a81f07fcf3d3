/**
 * The request `initialize` of the app-server: its schemas and its codec. Apart from the rest of the dialect, because it is
 * served before anything else is loaded.
 */
import * as Schema from "effect/Schema"
import { lazyCodec, type MethodInfo } from "../MethodCodec.ts"

const maybe = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

/**
 * The spelling of approval requests: `camelCase` (October 2025, with `conversationId` and `callId`), `snake_case` (September
 * 2025), or `none` for a client that answers no questions.
 */
export const ApprovalForm = Schema.Literals(["camelCase", "snake_case", "none"])
/** A decoded `ApprovalForm`. */
export type ApprovalForm = typeof ApprovalForm.Type

/** What a client of app-server v2 can do and wants. */
const threadCapabilities = {
  /** True: the client may use methods and members that are marked as experimental. Default false. */
  experimentalApi: maybe(Schema.Boolean),
  requestAttestation: maybe(Schema.Boolean),
  /** Exact names of notifications that are not sent to this connection; unknown names are ignored. */
  optOutNotificationMethods: maybe(Schema.Array(Schema.String)),
  requiredHumanApproval: maybe(Schema.Unknown),
  explicitGatewayOauth: maybe(Schema.Unknown),
  mcpServerOpenaiFormElicitation: maybe(Schema.Unknown),
  extensions: maybe(Schema.Unknown),
}

/** What the client says about itself. */
export const InitializeParams = Schema.Struct({
  clientInfo: Schema.Struct({
    name: Schema.String,
    title: maybe(Schema.String),
    version: Schema.String,
  }),
  capabilities: maybe(
    Schema.Struct({
      ...threadCapabilities,
      /** Not in the original. Default `camelCase`: clients that send this request are from October 2025 or later. */
      approvals: maybe(ApprovalForm),
      /** Not in the original. True: the client can show the forms of tool servers. Default false: other clients get them, or they are declined. */
      elicitation: maybe(Schema.Boolean),
    }),
  ),
})
/** A decoded `InitializeParams`. */
export type InitializeParams = typeof InitializeParams.Type

/** The user agent that the server sends to providers. */
export const UserAgent = Schema.Struct({ userAgent: Schema.String })

/** What the server says about itself; the original has only `userAgent` before its app-server v2. */
export const ServerIdentity = Schema.Struct({
  userAgent: Schema.String,
  /** Absolute path of the directory with configuration and conversations. */
  codexHome: Schema.String,
  /** `unix` or `windows`. */
  platformFamily: Schema.String,
  /** `linux`, `macos` … */
  platformOs: Schema.String,
})
/** A decoded `ServerIdentity`. */
export type ServerIdentity = typeof ServerIdentity.Type

/** The result of `initialize`: clients of app-server v2 need all members, clients of v1 the user agent only. */
export const InitializeResult = Schema.Struct({
  userAgent: Schema.String,
  codexHome: Schema.optionalKey(Schema.String),
  platformFamily: Schema.optionalKey(Schema.String),
  platformOs: Schema.optionalKey(Schema.String),
})
/** A decoded `InitializeResult`. */
export type InitializeResult = typeof InitializeResult.Type

/** The name of the method. */
export const initializeMethod = "initialize"

/** What the definition of the method says besides its name and its schemas. */
export const initializeInfo = {
  cancellable: false,
  since: "0.45",
  doc: "Introduces the client. Must be sent once, before every other request.",
} satisfies Omit<MethodInfo, "kind">

/** The codec of the method. */
export const initializeCodec = lazyCodec(
  { kind: "request", ...initializeInfo },
  InitializeParams,
  InitializeResult,
)
