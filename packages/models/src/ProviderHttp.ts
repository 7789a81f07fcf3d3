/**
 * Port: how a request reaches a provider and how its response is read. `HttpModel` owns what is sent, the retries and the
 * timeouts; an implementation owns connections only and has no time limit of its own (L12).
 */
import type * as Arr from "effect/Array"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"

/** A `POST` with a JSON body. */
export interface ProviderPost {
  /** Address with query; `http:` or `https:`. The same object for the requests to one provider, so that an implementation can remember what it derives from it. */
  readonly url: URL
  /** All headers but `host` and `connection`, with names in lower case. Every value is one that a header can carry. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** Status and headers of a response. */
export interface ResponseHead {
  readonly status: number
  /** Names in lower case. A header that may occur several times is an array. */
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
}

/** The connection could not be made or was lost. `cause` is the error of the platform; its text may quote a header. */
export class HttpFailure extends Data.TaggedError("HttpFailure")<{
  readonly cause: unknown
}> {}

/** One request and its response. Used by one fiber, but `close` may run in any. */
export interface Exchange {
  /** Sends the request; resolves when status and headers have arrived. Run once. Interrupting it closes the connection. */
  readonly head: Effect.Effect<ResponseHead, HttpFailure>
  /** The next bytes of the body, undefined at its end. Run after `head`. Interrupting it loses no bytes. */
  readonly read: Effect.Effect<Arr.NonEmptyReadonlyArray<Uint8Array> | undefined, HttpFailure>
  /** True when `read` is known to resolve without waiting for the provider. */
  readonly isReady: () => boolean
  /** True when the body was received to its end, whether it was read or not, and the connection can be used again. */
  readonly isReceived: () => boolean
  /**
   * Ends the exchange: closes the connection, unless the body was received to its end and the connection can be used
   * again. A pending `head` or `read` fails. Has no effect a second time.
   */
  readonly close: Effect.Effect<void>
}

/** Sends requests to providers. */
export interface ProviderHttp {
  /** Prepares a request; nothing is sent before `head` runs. */
  readonly post: (request: ProviderPost) => Effect.Effect<Exchange>
}
