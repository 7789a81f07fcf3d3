/** Methods of app-server v2 about authentication with the model's provider and its rate limits. */
import * as Schema from "effect/Schema"
import { ApiKey } from "../app/Account.ts"
import { notification, request } from "../Method.ts"
import { maybe, none, Open, orNull } from "./Values.ts"

const done = Schema.Struct({})

/** Plans of ChatGPT; a provider may have others. */
const planType = Schema.String

/** The account that is logged in. */
export const Account = Schema.Union([
  Schema.Struct({ type: Schema.Literal("apiKey") }),
  Schema.Struct({
    type: Schema.Literal("chatgpt"),
    email: orNull(Schema.String),
    planType,
    workspaceName: orNull(Schema.String),
  }),
  Schema.Struct({ type: Schema.Literal("amazonBedrock") }),
])
/** A decoded `Account`. */
export type Account = typeof Account.Type

/** Reports the account. */
export const AccountRead = request("account/read", {
  params: Schema.Struct({
    /** True: the token is renewed first. Default false. */
    refreshToken: maybe(Schema.Boolean),
  }),
  result: Schema.Struct({
    /** Null without a login, and for a provider that needs no account of OpenAI. */
    account: orNull(Account),
    userId: orNull(Schema.String),
    /** False: the provider in use needs no account of OpenAI. */
    requiresOpenaiAuth: Schema.Boolean,
    workspaceRouting: none,
  }),
  since: "0.58",
  doc: "Reports the account that the provider in use needs, if any.",
})

const named = { loginId: Schema.String }

/** Starts a login. */
export const AccountLoginStart = request("account/login/start", {
  params: Schema.Union([
    Schema.Struct({ type: Schema.Literal("apiKey"), apiKey: ApiKey }),
    Schema.Struct({
      type: Schema.Literal("chatgpt"),
      codexStreamlinedLogin: maybe(Schema.Boolean),
    }),
    Schema.Struct({ type: Schema.Literal("chatgptDeviceCode") }),
  ]),
  result: Schema.Union([
    Schema.Struct({ type: Schema.Literal("apiKey") }),
    Schema.Struct({ type: Schema.Literal("chatgpt"), ...named, authUrl: Schema.String }),
    Schema.Struct({
      type: Schema.Literal("chatgptDeviceCode"),
      ...named,
      verificationUrl: Schema.String,
      userCode: Schema.String,
    }),
  ]),
  cancellable: false,
  since: "0.58",
  doc: "Stores an API key, or starts a login in the browser or by a code. `account/login/completed` reports the end of the login.",
})

/** Cancels a login. */
export const AccountLoginCancel = request("account/login/cancel", {
  params: Schema.Struct(named),
  result: Schema.Struct({ status: Schema.Literals(["canceled", "notFound"]) }),
  cancellable: false,
  since: "0.58",
  doc: "Cancels a login that is in progress.",
})

/** Removes the credentials. */
export const AccountLogout = request("account/logout", {
  result: done,
  cancellable: false,
  since: "0.58",
  doc: "Removes the stored credentials. `account/updated` follows, also when there were none.",
})

/** One window of a rate limit. */
const rateLimitWindow = Schema.Struct({
  usedPercent: Schema.Finite,
  windowDurationMins: orNull(Schema.Int),
  /** Seconds since the epoch. */
  resetsAt: orNull(Schema.Int),
})

/** How much of a rate limit is used. */
export const RateLimitSnapshot = Schema.Struct({
  limitId: orNull(Schema.String),
  limitName: orNull(Schema.String),
  normalModelSlug: orNull(Schema.String),
  primary: orNull(rateLimitWindow),
  secondary: orNull(rateLimitWindow),
  credits: orNull(Open),
  individualLimit: orNull(Open),
  spendControlReached: orNull(Schema.Boolean),
  planType: orNull(planType),
  rateLimitReachedType: orNull(Schema.String),
}).annotate({ identifier: "RateLimitSnapshot" })
/** A decoded `RateLimitSnapshot`. */
export type RateLimitSnapshot = typeof RateLimitSnapshot.Type

/** Reports the rate limits. */
export const AccountRateLimitsRead = request("account/rateLimits/read", {
  result: Schema.Struct({
    rateLimits: RateLimitSnapshot,
    /** The same by `limitId`, for providers with several limits. */
    rateLimitsByLimitId: orNull(Schema.Record(Schema.String, RateLimitSnapshot)),
  }),
  since: "0.58",
  doc: "Reports how much of the provider's rate limits is used.",
})

/** The rate limits changed. */
export const AccountRateLimitsUpdated = notification("account/rateLimits/updated", {
  params: Schema.Struct({ rateLimits: RateLimitSnapshot }),
  since: "0.58",
  doc: "The rate limits that the provider has reported have changed. Sent to every connection.",
})

/** The credentials changed. */
export const AccountUpdated = notification("account/updated", {
  params: Schema.Struct({
    /** `apikey` or `chatgpt`; null without a login. */
    authMode: orNull(Schema.String),
    planType: orNull(planType),
  }),
  since: "0.58",
  doc: "The credentials changed, through this or another connection. Sent to every connection.",
})

/** A login has ended. */
export const AccountLoginCompleted = notification("account/login/completed", {
  params: Schema.Struct({
    /** Null for an API key. */
    loginId: orNull(Schema.String),
    success: Schema.Boolean,
    error: orNull(Schema.String),
    onboardingEntrypoint: none,
  }),
  since: "0.58",
  doc: "A login has ended. Sent to every connection.",
})

/** Whether Amazon Bedrock is used in a region of the government. */
export const CheckGovCloudRequirements = request("account/bedrock/checkGovCloudRequirements", {
  params: Schema.Struct({}),
  result: Schema.Struct({ isGovCloud: Schema.Boolean, shouldWarn: Schema.Boolean }),
  experimental: true,
  since: "0.153",
  doc: "Reports whether Amazon Bedrock is used in a region of the government. This program has no such provider.",
})

/** Reports the authentication method. */
export const GetAuthStatus = request("getAuthStatus", {
  params: Schema.Struct({
    includeToken: maybe(Schema.Boolean),
    refreshToken: maybe(Schema.Boolean),
  }),
  result: Schema.Struct({
    /** `apikey` or `chatgpt`. */
    authMethod: orNull(Schema.String),
    authToken: orNull(Schema.String),
    requiresOpenaiAuth: orNull(Schema.Boolean),
  }),
  since: "0.25",
  doc: "Reports the authentication method in use; it is null when there are no credentials.",
})
