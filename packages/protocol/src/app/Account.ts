/** Methods about authentication with the model's provider and its rate limits. The wire: packages/docs/wire/app-server.md. */
import * as Schema from "effect/Schema"
import { notification, request } from "../Method.ts"
import { maybe, Open, Uuid } from "./Fields.ts"

/** How the server authenticates with the provider: an API key or a ChatGPT account. */
export const AuthMethod = Schema.Literals(["apikey", "chatgpt"])

/** Characters that a request header can carry. A blank key would log the user out and be reported as a login. */
export const ApiKey = Schema.String.check(
  Schema.isPattern(/^[\x21-\x7e]+$/u, { expected: "a key of visible ASCII letters" }),
)

const done = Schema.Struct({})

/** Stores an API key. */
export const LoginApiKey = request("loginApiKey", {
  params: Schema.Struct({ apiKey: ApiKey }),
  result: done,
  cancellable: false,
  since: "0.36",
  doc: "Stores an API key for authentication. A browser login that is in progress is cancelled.",
})

/** Starts a login in the browser. */
export const LoginChatGpt = request("loginChatGpt", {
  result: Schema.Struct({ loginId: Schema.String, authUrl: Schema.String }),
  since: "0.25",
  doc: "Starts a login in the browser and responds with its URL. `loginChatGptComplete` reports the end of the login.",
})

/** Cancels a login in the browser. */
export const CancelLoginChatGpt = request("cancelLoginChatGpt", {
  params: Schema.Struct({ loginId: Uuid }),
  result: done,
  cancellable: false,
  since: "0.25",
  doc: "Cancels a browser login that is in progress.",
})

/** Removes the credentials. */
export const LogoutChatGpt = request("logoutChatGpt", {
  result: done,
  cancellable: false,
  since: "0.25",
  doc: "Removes the stored credentials.",
})

/** Reports the authentication method. */
export const GetAuthStatus = request("getAuthStatus", {
  params: Schema.Struct({
    includeToken: maybe(Schema.Boolean),
    refreshToken: maybe(Schema.Boolean),
  }),
  result: Schema.Struct({
    authMethod: Schema.optionalKey(AuthMethod),
    authToken: Schema.optionalKey(Schema.String),
    requiresOpenaiAuth: Schema.optionalKey(Schema.Boolean),
  }),
  since: "0.25",
  doc: "Reports the authentication method in use; it is absent when there are no credentials.",
})

/** Reports the user's e-mail address. */
export const UserInfo = request("userInfo", {
  result: Schema.Struct({ allegedUserEmail: Schema.NullOr(Schema.String) }),
  since: "0.36",
  doc: "Reports the e-mail address that the stored token claims. It is not verified.",
})

/** Reports the rate limits. */
export const AccountRateLimitsRead = request("account/rateLimits/read", {
  result: Schema.Struct({
    /** As the provider reported them last; the members are the provider's. */
    rateLimits: Open,
  }),
  since: "0.48",
  doc: "Reports how much of the provider's rate limits is used.",
})

/** The rate limits changed. */
export const AccountRateLimitsUpdated = notification("account/rateLimits/updated", {
  /** As in the result of `account/rateLimits/read`. */
  params: Open,
  since: "0.48",
  doc: "The provider reported rate limits that differ from the last ones, in a conversation that has a listener.",
})

/** The credentials changed. */
export const AuthStatusChange = notification("authStatusChange", {
  params: Schema.Struct({ authMethod: Schema.optionalKey(AuthMethod) }),
  since: "0.25",
  doc: "The credentials changed, through this or another connection. Without `authMethod` there are none.",
})

/** A login in the browser has ended. */
export const LoginChatGptComplete = notification("loginChatGptComplete", {
  params: Schema.Struct({
    loginId: Schema.String,
    success: Schema.Boolean,
    error: Schema.optionalKey(Schema.String),
  }),
  since: "0.25",
  doc: "A browser login that this connection started has ended.",
})
