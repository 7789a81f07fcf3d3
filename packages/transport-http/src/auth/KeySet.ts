/**
 * The public keys of an issuer of access tokens. Fetched at the first use, kept for ten minutes, and fetched again for a key
 * that is not known, at most every 30 seconds: an issuer rotates its keys, and a client can name any key. While the issuer
 * does not respond, the keys that are known stay in use.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import { createLocalJWKSet, type JWTVerifyGetKey } from "jose"
import { IssuerUnavailable } from "../guard/Principals.ts"
import { isSafeAddress } from "./SafeAddress.ts"

const maxAgeMs = 10 * 60_000
const cooldownMs = 30_000
const requestTimeout = "5 seconds"

/** Key sets and metadata take a few KiB. */
const maxBytes = 256 * 1024

const KeySetJson = Schema.fromJsonString(
  Schema.Struct({
    keys: Schema.Array(
      Schema.StructWithRest(Schema.Struct({ kty: Schema.String }), [
        Schema.Record(Schema.String, Schema.Unknown),
      ]),
    ),
  }),
)

const MetadataJson = Schema.fromJsonString(
  Schema.Struct({ issuer: Schema.String, jwks_uri: Schema.String }),
)

/** The keys of one issuer. */
export interface KeySet {
  /** The keys now. `renewed`: a key was not among those of the last call, which may be out of date. */
  readonly keys: (options: {
    readonly renewed: boolean
  }) => Effect.Effect<JWTVerifyGetKey, IssuerUnavailable>
}

const unavailable = (message: string) => new IssuerUnavailable({ message, retryAfterSeconds: 5 })

/** Reads the text of an address, whatever the library would say about a failure: its errors quote the request. */
const textAt = (url: string): Effect.Effect<string, IssuerUnavailable, HttpClient.HttpClient> =>
  HttpClient.get(url, { headers: { accept: "application/json" } }).pipe(
    Effect.flatMap((response) =>
      response.status === 200
        ? response.stream.pipe(
            Stream.mapError(() => unavailable(`${url}: cannot be read`)),
            Stream.limitBytes(maxBytes, () =>
              Stream.fail(unavailable(`${url}: longer than ${maxBytes} bytes`)),
            ),
            Stream.decodeText,
            Stream.mkString,
          )
        : Effect.fail(unavailable(`${url}: responded with status ${response.status}`)),
    ),
    Effect.scoped,
    Effect.timeoutOrElse({
      duration: requestTimeout,
      orElse: () => Effect.fail(unavailable(`${url}: did not respond in time`)),
    }),
    Effect.catchTag("HttpClientError", () => Effect.fail(unavailable(`${url}: cannot be reached`))),
  )

/** Where the metadata of an issuer is: RFC 8414 with the path behind, and OpenID Connect Discovery. */
const metadataAddresses = (issuer: string): ReadonlyArray<string> => {
  const { origin, pathname } = new URL(issuer)
  const path = pathname === "/" ? "" : pathname.replace(/\/$/, "")
  return [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ]
}

const addressOf = (issuer: string) =>
  Effect.firstSuccessOf(
    metadataAddresses(issuer).map((address) =>
      textAt(address).pipe(
        Effect.flatMap(Schema.decodeEffect(MetadataJson)),
        Effect.mapError(() => unavailable(`${address}: expected the metadata of the issuer`)),
        Effect.filterOrFail(
          (metadata) => metadata.issuer === issuer && isSafeAddress(metadata.jwks_uri),
          () => unavailable(`${address}: expected the issuer, and an https address of its keys`),
        ),
        Effect.map(({ jwks_uri: found }) => found),
      ),
    ),
  )

/**
 * The keys of the issuer.
 *
 * @param jwksUri where its keys are; by default what its metadata says
 */
export const make = Effect.fnUntraced(function* (
  issuer: string,
  jwksUri: string | undefined,
): Effect.fn.Return<KeySet, never, HttpClient.HttpClient> {
  const client = yield* HttpClient.HttpClient
  const lock = Semaphore.makeUnsafe(1)
  let known: { readonly get: JWTVerifyGetKey; readonly atMs: number } | undefined
  let triedAtMs = Number.NEGATIVE_INFINITY
  const load = Effect.gen(function* () {
    const address = jwksUri ?? (yield* addressOf(issuer))
    const { keys } = yield* Effect.mapError(
      Effect.flatMap(textAt(address), Schema.decodeEffect(KeySetJson)),
      (error) =>
        error._tag === "IssuerUnavailable" ? error : unavailable(`${address}: expected a key set`),
    )
    return createLocalJWKSet({ keys: [...keys] })
  }).pipe(Effect.provideService(HttpClient.HttpClient, client))
  const keys: KeySet["keys"] = ({ renewed }) =>
    Effect.gen(function* () {
      const nowMs = yield* Clock.currentTimeMillis
      const isFresh = known !== undefined && !renewed && nowMs - known.atMs < maxAgeMs
      const waits = known !== undefined && nowMs - triedAtMs < cooldownMs
      if (known !== undefined && (isFresh || waits)) return known.get
      triedAtMs = nowMs
      const loaded = yield* Effect.result(load)
      if (loaded._tag === "Success") known = { get: loaded.success, atMs: nowMs }
      else if (known === undefined) return yield* loaded.failure
      else
        yield* Effect.logWarning(
          `the keys of the issuer are out of date: ${loaded.failure.message}`,
        )
      return known.get
    }).pipe(lock.withPermits(1))
  return { keys }
})
