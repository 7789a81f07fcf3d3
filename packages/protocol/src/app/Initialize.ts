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

/** What the client says about itself. */
export const InitializeParams = Schema.Struct({
  clientInfo: Schema.Struct({
    name: Schema.String,
    title: maybe(Schema.String),
    version: Schema.String,
  }),
  /** Not in the original. */
  capabilities: maybe(
    Schema.Struct({
      /** Default `camelCase`: clients that send this request are from October 2025 or later. */
      approvals: maybe(ApprovalForm),
      /** True: the client can show the forms of tool servers. Default false: other clients get them, or they are declined. */
      elicitation: maybe(Schema.Boolean),
    }),
  ),
})
/** A decoded `InitializeParams`. */
export type InitializeParams = typeof InitializeParams.Type

/** The user agent that the server sends to providers. */
export const UserAgent = Schema.Struct({ userAgent: Schema.String })

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
  UserAgent,
)
