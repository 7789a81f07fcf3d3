/**
 * Sends the request of one model response: credentials, headers, the retries of the HTTP request, and the wait for the
 * head of the response. All waiting uses `Clock` (L12).
 */
import { backoff } from "@colloquy/core/turn/Backoff"
import type { ModelError, ModelProvider } from "@colloquy/core/ModelClient"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import type { Exchange, ProviderHttp, ResponseHead } from "../ProviderHttp.ts"
import { type Credentials, type FindKey, readCredentials, secretsOf } from "./Credentials.ts"
import { unreachable } from "./failures/ConnectFailure.ts"
import { badProvider, badUrl, idle } from "./failures/Failures.ts"
import { type FailedAttempt, maxBodyChars, statusFailure } from "./failures/StatusFailure.ts"
import type { IdleDeadline } from "./IdleDeadline.ts"
import type { Targets } from "./Targets.ts"

/** Upper limit of `request_max_retries`, as in the original. */
const maxRetriesCap = 100

/** What every request of one client has in common. */
export interface Sender {
  readonly http: ProviderHttp
  readonly targets: Targets
  /** Value of `User-Agent`. */
  readonly userAgent: string
  readonly findKey?: FindKey
}

/** One response that is waited for. */
export interface Sent {
  readonly provider: ModelProvider
  /** Path below the provider's address. */
  readonly path: string
  /** Headers of the wire, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** Closes the connection. */
  readonly scope: Scope.Scope
  readonly deadline: IdleDeadline
}

/** A response whose body is still to be read. */
export interface Answer {
  readonly head: ResponseHead
  readonly exchange: Exchange
}

const headerNames = (headers: Readonly<Record<string, string>>): Record<string, string> => {
  const lower: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) lower[name.toLowerCase()] = value
  return lower
}

const headersOf = (
  { body, headers, provider }: Sent,
  { headers: own, key }: Credentials,
  userAgent: string,
): Readonly<Record<string, string>> => ({
  "content-type": "application/json",
  "content-length": String(body.length),
  accept: "text/event-stream",
  "user-agent": userAgent,
  ...headers,
  ...(key === undefined ? {} : { authorization: `Bearer ${Redacted.value(key)}` }),
  ...headerNames(provider.httpHeaders),
  ...headerNames(own),
})

/** Reads the first characters of an error's body. Resolves with an empty text when the body cannot be read. */
const startOf = (exchange: Exchange, enough: number): Effect.Effect<string> => {
  const decoder = new TextDecoder()
  let text = ""
  const more: Effect.Effect<string> = Effect.matchEffect(exchange.read, {
    onSuccess: (chunks) => {
      if (chunks === undefined) return Effect.succeed(text + decoder.decode())
      for (const chunk of chunks) {
        text += decoder.decode(chunk, { stream: true })
        if (text.length >= enough) return Effect.succeed(text)
      }
      return more
    },
    // The status is the error; a body that breaks off adds nothing to it.
    onFailure: () => Effect.succeed(""),
  })
  return more
}

/** The first characters of an error's body, with secrets replaced. */
const errorBody = (
  exchange: Exchange,
  provider: ModelProvider,
  credentials: Credentials,
): Effect.Effect<string> => {
  const secrets = secretsOf(credentials, provider)
  // Reads farther than the cut, so that a secret which crosses it is found as a whole.
  const enough = maxBodyChars + Math.max(0, ...secrets.map((secret) => secret.length))
  return startOf(exchange, enough).pipe(
    Effect.timeoutOrElse({
      duration: provider.streamIdleTimeout,
      orElse: () => Effect.succeed(""),
    }),
    Effect.map((text) =>
      secrets
        .reduce((rest, secret) => rest.replaceAll(secret, "<redacted>"), text)
        .slice(0, maxBodyChars),
    ),
  )
}

const retryAfter = ({ headers }: ResponseHead): string | undefined => {
  const value = headers["retry-after"]
  return typeof value === "string" ? value : undefined
}

/** The meaning of a status other than success. Closes the exchange. */
const refusedBy = ({ exchange, head }: Answer, provider: ModelProvider, credentials: Credentials) =>
  Effect.gen(function* () {
    const text = yield* errorBody(exchange, provider, credentials)
    yield* exchange.close
    const now = yield* Clock.currentTimeMillis
    return statusFailure(
      provider.wire,
      { status: head.status, retryAfter: retryAfter(head), body: text },
      now,
    )
  })

const noHead = (url: URL, isExpired: boolean, cause: unknown): FailedAttempt => {
  if (isExpired) return { error: idle, repeats: 0 }
  const error = unreachable(url.href, cause)
  return { error, repeats: error.retryable ? Number.POSITIVE_INFINITY : 0 }
}

const closing = (exchange: Exchange, deadline: IdleDeadline): Effect.Effect<void> =>
  Effect.suspend(() => {
    deadline.stop()
    return exchange.close
  })

const sendOnce = Effect.fnUntraced(function* (
  sent: Sent,
  { findKey, http, targets, userAgent }: Sender,
): Effect.fn.Return<Answer | FailedAttempt, ModelError> {
  const { deadline, path, provider } = sent
  const target = targets.of(provider)
  if (target.problem !== undefined) {
    return { error: badProvider(provider, target.problem), repeats: 0 }
  }
  // Read for each attempt, so that a key that was changed meanwhile is used.
  const credentials = yield* readCredentials(provider, findKey)
  const url = target.url(credentials.baseUrl ?? provider.baseUrl, path)
  if (url === undefined) return { error: badUrl(provider), repeats: 0 }
  const headers = headersOf(sent, credentials, userAgent)
  const exchange = yield* http.post({ url, headers, body: sent.body })
  yield* Scope.addFinalizer(sent.scope, closing(exchange, deadline))
  yield* deadline.start(provider.streamIdleTimeout, exchange.close)
  const outcome = yield* Effect.match(exchange.head, {
    onSuccess: (head): Answer => ({ head, exchange }),
    onFailure: ({ cause }) => noHead(url, deadline.isExpired, cause),
  })
  deadline.stop()
  if ("error" in outcome) return outcome
  const { status } = outcome.head
  return status >= 200 && status < 300 ? outcome : yield* refusedBy(outcome, provider, credentials)
})

/** Sends the request for the `attempt`th time, counted from 1, and repeats it as often as the failure permits. */
const sendFrom = (attempt: number, sent: Sent, sender: Sender): Effect.Effect<Answer, ModelError> =>
  Effect.flatMap(sendOnce(sent, sender), (outcome): Effect.Effect<Answer, ModelError> => {
    if ("exchange" in outcome) return Effect.succeed(outcome)
    const { delayMs, error, repeats } = outcome
    const most = Math.min(repeats, sent.provider.requestMaxRetries, maxRetriesCap)
    if (attempt > most) return Effect.fail(error)
    const waiting =
      delayMs === undefined ? Effect.flatMap(backoff(attempt), Effect.sleep) : Effect.sleep(delayMs)
    return Effect.andThen(waiting, sendFrom(attempt + 1, sent, sender))
  })

/** Repeats the request until there is a response or the retries are used up. */
export const send = (sent: Sent, sender: Sender): Effect.Effect<Answer, ModelError> =>
  sendFrom(1, sent, sender)
