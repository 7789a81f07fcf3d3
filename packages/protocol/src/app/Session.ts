/** Who speaks on the connection, and in which generation's words (§3.1). */
import * as Schema from "effect/Schema"
import { notification, request } from "../Method.ts"
import { maybe } from "./Fields.ts"

/**
 * How the questions of approvals are put: `camelCase` as in October, with `conversationId` and `callId`; `snake_case` as
 * in September; `none`: the client answers no questions.
 */
export const ApprovalForm = Schema.Literals(["camelCase", "snake_case", "none"])
export type ApprovalForm = typeof ApprovalForm.Type

const UserAgent = Schema.Struct({ userAgent: Schema.String })

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
        /** Default `camelCase`: who sends this request is of October. */
        approvals: maybe(ApprovalForm),
        /** True: the client shows the forms of tool servers. Default false: they are put to others, or declined. */
        elicitation: maybe(Schema.Boolean),
      }),
    ),
  }),
  result: UserAgent,
  cancellable: false,
  since: "0.45",
  doc: "Says who the client is. Comes once, before every other request.",
})

export const Initialized = notification("initialized", {
  since: "0.45",
  doc: "The client has read the answer to its first request; nothing waits for it.",
})

export const GetUserAgent = request("getUserAgent", {
  result: UserAgent,
  since: "0.36",
  doc: "How the server calls itself to providers.",
})
