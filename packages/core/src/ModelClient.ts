/**
 * Port: the language model as the turn loop uses it. `@colloquy/models` implements it over HTTP and offline; an embedding
 * application may provide its own.
 */
import type { ConversationId } from "@colloquy/protocol/Ids"
import type { ReasoningEffort, ReasoningSummary, Verbosity } from "@colloquy/protocol/Policy"
import type { ResponseItem, TokenUsage } from "@colloquy/protocol/ResponseItem"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"

/** A provider, as configured under `model_providers` (`packages/docs/wire/config.md`), with defaults filled in. */
export interface ModelProvider {
  /** The key under `model_providers`, or a built-in id. */
  readonly id: string
  /** Name for a person. */
  readonly name: string
  /** Kind of the wire protocol. */
  readonly wire: "responses" | "chat" | "offline"
  /** URL without a trailing slash; the path of the wire protocol is appended. */
  readonly baseUrl: string
  /** Name of the environment variable that holds the key. Absent: no `Authorization` header is sent. */
  readonly envKey?: string
  /** The bearer token when the variable named by `envKey` holds no key. */
  readonly bearerToken?: Redacted.Redacted
  /** Text of the error for a user who has not set the variable `envKey`. */
  readonly envKeyInstructions?: string
  /** True: without a key the request is sent without `Authorization` instead of failing. */
  readonly keyOptional?: boolean
  /** Added to the URL of every request. */
  readonly queryParams: Readonly<Record<string, string>>
  /** Added to every request. */
  readonly httpHeaders: Readonly<Record<string, string>>
  /** Header names to names of environment variables. A header is sent only if its variable is set and not blank. */
  readonly envHttpHeaders: Readonly<Record<string, string>>
  /** Most retries of one HTTP request after a connection error, 401, 429 or 5xx. */
  readonly requestMaxRetries: number
  /** Most retries of the whole request after its stream failed. The turn loop makes these. */
  readonly streamMaxRetries: number
  /** Longest wait for the next server-sent event. */
  readonly streamIdleTimeout: Duration.Duration
}

/** A tool as it is offered to the model. */
export type ToolSpec =
  | {
      readonly type: "function"
      readonly name: string
      readonly description: string
      /** JSON Schema of an object. */
      readonly parameters: Readonly<Record<string, unknown>>
    }
  /** Called with text of a grammar, by `custom_tool_call`. Only in the Responses API. */
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
  /** The shell tool that the provider describes, by `local_shell_call`. Only in the Responses API. */
  | { readonly type: "local_shell" }
  /** The web search that the provider runs. Only in the Responses API. */
  | { readonly type: "web_search" }

/** One request to a model. */
export interface ModelRequest {
  readonly conversationId: ConversationId
  readonly provider: ModelProvider
  readonly model: string
  /** The system text. */
  readonly instructions: string
  /** The history, oldest first. */
  readonly input: ReadonlyArray<ResponseItem>
  readonly tools: ReadonlyArray<ToolSpec>
  /** Absent, like `summary`, for a model without reasoning: a provider may reject the request otherwise. */
  readonly effort?: ReasoningEffort
  /** Present for every model that has reasoning. */
  readonly summary?: ReasoningSummary
  readonly verbosity?: Verbosity
  /** JSON Schema that the answer has to match. The provider is asked to keep to it. */
  readonly outputSchema?: unknown
}

/** Rate limits as a provider reports them, for `token_count`. The members are those of the provider. */
export type RateLimits = Readonly<Record<string, unknown>>

/** What a model streams, in order. `ItemDone` repeats in full what its deltas contained. */
export type ModelEvent =
  | { readonly _tag: "TextDelta"; readonly delta: string }
  | { readonly _tag: "ReasoningDelta"; readonly delta: string }
  | { readonly _tag: "RawReasoningDelta"; readonly delta: string }
  /** A new section of the reasoning summary starts. */
  | { readonly _tag: "ReasoningSectionBreak" }
  | { readonly _tag: "WebSearchBegin"; readonly callId: string }
  /** The search has ended; `ItemDone` with the item of the history follows. `query` is empty when it is not known. */
  | { readonly _tag: "WebSearchEnd"; readonly callId: string; readonly query: string }
  | { readonly _tag: "ItemDone"; readonly item: ResponseItem }
  /** Last event of a complete stream. `usage` and `rateLimits` are absent when the provider reports none. */
  | {
      readonly _tag: "Completed"
      readonly usage?: TokenUsage
      readonly rateLimits?: RateLimits
    }

/**
 * Why a request to a model failed. `message` is the text of the `error` event and contains no secret. `retryable` says
 * whether the turn loop retries the request; `retryAfterMs` is the delay that the server named. `ContextWindow`: the
 * request is longer than the context window; the turn loop then has the history summarised. `Image`: the provider refuses
 * an image of the request; the turn loop then leaves images out of later requests.
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
    "Image",
  ]),
  message: Schema.String,
  retryable: Schema.Boolean,
  status: Schema.optionalKey(Schema.Int),
  retryAfterMs: Schema.optionalKey(Schema.Finite),
}) {}

/** The language model. */
export class ModelClient extends Context.Service<
  ModelClient,
  {
    /**
     * Sends one request. The stream ends after `Completed` or fails; it never ends without one of the two. Interrupting
     * it closes the connection. Retries of the HTTP request before the first event happen inside.
     */
    readonly stream: (request: ModelRequest) => Stream.Stream<ModelEvent, ModelError>
  }
>()("@colloquy/core/ModelClient") {}
