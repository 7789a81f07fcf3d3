/** The handshake of a connection: the client's name, and which forms of questions it understands. */
import * as Schema from "effect/Schema"
import { notification, request } from "../Method.ts"
import { maybe } from "./Fields.ts"

/**
 * The spelling of approval requests: `camelCase` (October 2025, with `conversationId` and `callId`), `snake_case` (September
 * 2025), or `none` for a client that answers no questions.
 */
export const ApprovalForm = Schema.Literals(["camelCase", "snake_case", "none"])
/** A decoded `ApprovalForm`. */
export type ApprovalForm = typeof ApprovalForm.Type

const UserAgent = Schema.Struct({ userAgent: Schema.String })

/** The client introduces itself. */
export const Initialize = request("initialize", {
  params: Schema.Struct({
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
  }),
  result: UserAgent,
  cancellable: false,
  since: "0.45",
  doc: "Introduces the client. Must be sent once, before every other request.",
})

/** The client is ready. */
export const Initialized = notification("initialized", {
  since: "0.45",
  doc: "The client has received the response to `initialize`. It has no effect.",
})

/** Reports the user agent. */
export const GetUserAgent = request("getUserAgent", {
  result: UserAgent,
  since: "0.36",
  doc: "Reports the user agent that the server sends to providers.",
})
