/** Who the person is to the model's provider (§3.10). */
import * as Schema from "effect/Schema"
import { notification, request } from "../Method.ts"
import { maybe, Open, Uuid } from "./Fields.ts"

export const AuthMethod = Schema.Literals(["apikey", "chatgpt"])

/** What a header of a request can carry; a blank one would log out whoever is logged in, and be told as a login. */
const ApiKey = Schema.String.check(
  Schema.isPattern(/^[\x21-\x7e]+$/u, { expected: "a key of visible ASCII letters" }),
)

const done = Schema.Struct({})

export const LoginApiKey = request("loginApiKey", {
  params: Schema.Struct({ apiKey: ApiKey }),
  result: done,
  cancellable: false,
  since: "0.36",
  doc: "Keeps an API key; a login under way ends.",
})

export const LoginChatGpt = request("loginChatGpt", {
  result: Schema.Struct({ loginId: Schema.String, authUrl: Schema.String }),
  since: "0.25",
  doc: "Begins a login in the browser; `loginChatGptComplete` tells of its end.",
})

export const CancelLoginChatGpt = request("cancelLoginChatGpt", {
  params: Schema.Struct({ loginId: Uuid }),
  result: done,
  cancellable: false,
  since: "0.25",
  doc: "Ends a login under way.",
})

export const LogoutChatGpt = request("logoutChatGpt", {
  result: done,
  cancellable: false,
  since: "0.25",
  doc: "Forgets what was logged in with.",
})

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
  doc: "Whether and how somebody is logged in.",
})

export const UserInfo = request("userInfo", {
  result: Schema.Struct({ allegedUserEmail: Schema.NullOr(Schema.String) }),
  since: "0.36",
  doc: "The address that the stored token claims, unchecked.",
})

export const AccountRateLimitsRead = request("account/rateLimits/read", {
  result: Schema.Struct({
    /** As the provider told them last; its members are the provider's. */
    rateLimits: Open,
  }),
  since: "0.48",
  doc: "How much of what the provider allows is used.",
})

export const AccountRateLimitsUpdated = notification("account/rateLimits/updated", {
  /** As `account/rateLimits/read` gives them. */
  params: Open,
  since: "0.48",
  doc: "The provider has told other limits than before, in a conversation that somebody listens to.",
})

export const AuthStatusChange = notification("authStatusChange", {
  params: Schema.Struct({ authMethod: Schema.optionalKey(AuthMethod) }),
  since: "0.25",
  doc: "Somebody has logged in or out, by whichever connection; without a method nobody is logged in.",
})

export const LoginChatGptComplete = notification("loginChatGptComplete", {
  params: Schema.Struct({
    loginId: Schema.String,
    success: Schema.Boolean,
    error: Schema.optionalKey(Schema.String),
  }),
  since: "0.25",
  doc: "A login in the browser that this connection began has ended.",
})
