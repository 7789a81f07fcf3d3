/**
 * Port: what the turn loop needs of a model. `@colloquy/models` implements it over HTTP and offline;
 * an embedding application may bring its own.
 */
import type { ConversationId } from "@colloquy/protocol/Ids"
import type { ReasoningEffort, ReasoningSummary, Verbosity } from "@colloquy/protocol/Policy"
import type { ResponseItem, TokenUsage } from "@colloquy/protocol/ResponseItem"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"

/** How a provider is reached: §7.3 of the original's configuration, resolved. */
export interface ModelProvider {
  /** The key under `model_providers`, or a built-in id. */
  readonly id: string
  readonly name: string
  readonly wire: "responses" | "chat" | "offline"
  /** Without a trailing slash; the wire's path is appended. */
  readonly baseUrl: string
  /** Environment variable that holds the key; without one no `Authorization` header is sent. */
  readonly envKey?: string
  /** Sent as the bearer token where the variable `envKey` names holds no key. */
  readonly bearerToken?: Redacted.Redacted
  /** What to tell a person who has not set `envKey`. */
  readonly envKeyInstructions?: string
  /** True: a missing key is no error, the request goes out without one. */
  readonly keyOptional?: boolean
  readonly queryParams: Readonly<Record<string, string>>
  readonly httpHeaders: Readonly<Record<string, string>>
  /** Header name to environment variable; sent only where the variable is set and not blank. */
  readonly envHttpHeaders: Readonly<Record<string, string>>
  /** Repeats of one HTTP request after a connection error, 401, 429 or 5xx (§6.4). */
  readonly requestMaxRetries: number
  /** Repeats of the whole request after its stream failed; the turn loop does these. */
  readonly streamMaxRetries: number
  /** Longest wait for the next server-sent event. */
  readonly streamIdleTimeout: Duration.Duration
}

/** A tool as the model is told of it (§6.7). */
export type ToolSpec =
  | {
      readonly type: "function"
      readonly name: string
      readonly description: string
      /** JSON Schema of an object. */
      readonly parameters: Readonly<Record<string, unknown>>
    }
  /** Called with free text in a grammar, by `custom_tool_call`; only the Responses wire knows it. */
  | {
      readonly type: "custom"
      readonly name: string
      readonly description: string
      readonly format: {
        readonly type: "grammar"
        readonly syntax: "lark"
        readonly definition: string
      }
    }
  /** The provider's own description of a shell, by `local_shell_call`; only the Responses wire knows it. */
  | { readonly type: "local_shell" }
  /** The provider's own search of the web, which the provider runs itself; only the Responses wire knows it. */
  | { readonly type: "web_search" }

export interface ModelRequest {
  readonly conversationId: ConversationId
  readonly provider: ModelProvider
  readonly model: string
  /** The system text. */
  readonly instructions: string
  /** The whole history, oldest first. */
  readonly input: ReadonlyArray<ResponseItem>
  readonly tools: ReadonlyArray<ToolSpec>
  /** Absent, like `summary`, for a model without reasoning: a provider may refuse the request otherwise. */
  readonly effort?: ReasoningEffort
  /** Present for every model that has reasoning. */
  readonly summary?: ReasoningSummary
  readonly verbosity?: Verbosity
}

/** What a provider says of its limits, as `token_count` tells it; its members are the provider's. */
export type RateLimits = Readonly<Record<string, unknown>>

/** What a model says, in order. Item events repeat in full what deltas gave piecewise. */
export type ModelEvent =
  | { readonly _tag: "TextDelta"; readonly delta: string }
  | { readonly _tag: "ReasoningDelta"; readonly delta: string }
  | { readonly _tag: "RawReasoningDelta"; readonly delta: string }
  /** A new part of the reasoning summary begins. */
  | { readonly _tag: "ReasoningSectionBreak" }
  | { readonly _tag: "WebSearchBegin"; readonly callId: string }
  /** The search is over; `ItemDone` with the item of the history follows. `query` is empty where none is known. */
  | { readonly _tag: "WebSearchEnd"; readonly callId: string; readonly query: string }
  | { readonly _tag: "ItemDone"; readonly item: ResponseItem }
  /** Last event of a good stream; `usage` and `rateLimits` are absent where the provider reports none. */
  | {
      readonly _tag: "Completed"
      readonly usage?: TokenUsage
      readonly rateLimits?: RateLimits
    }

/**
 * Why a request to a model failed. `message` is the text of the `error` event (§6.4) and holds no secret.
 * `retryable` tells the turn loop whether to ask again; `retryAfterMs` is the delay the server named. `ContextWindow`:
 * the request is longer than the model takes; the turn loop then has the history summarised.
 */
export class ModelError extends Schema.TaggedError<ModelError>()("ModelError", {
  reason: Schema.Literals([
    "Transport",
    "Status",
    "RetryLimit",
    "Idle",
    "Stream",
    "Key",
    "Request",
    "ContextWindow",
  ]),
  message: Schema.String,
  retryable: Schema.Boolean,
  status: Schema.optionalKey(Schema.Int),
  retryAfterMs: Schema.optionalKey(Schema.Finite),
}) {}

export class ModelClient extends Context.Service<
  ModelClient,
  {
    /**
     * Asks the model once. The stream ends after `Completed`, or fails; it never ends without one of the two.
     * Interrupting it closes the connection. Repeats of the HTTP request before the first event are inside.
     */
    readonly stream: (request: ModelRequest) => Stream.Stream<ModelEvent, ModelError>
  }
>()("@colloquy/core/ModelClient") {}
