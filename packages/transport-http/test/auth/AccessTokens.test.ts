/** Access tokens of an issuer whose keys and metadata are in memory, on the virtual clock. */
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as TestClock from "effect/testing/TestClock"
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose"
import {
  type AccessTokenOptions,
  BadAccessTokenOptions,
  make,
} from "../../src/auth/AccessTokens.ts"
import type { NotIdentified } from "../../src/guard/Principals.ts"

const issuer = "https://issuer.test/tenant"
const resource = "https://colloquy.test/mcp"
const jwks = "https://issuer.test/keys"

const options: AccessTokenOptions = { issuer, resource, scopes: ["converse"] }

interface Signed {
  readonly alg?: string
  readonly kid?: string
  readonly claims?: JWTPayload
  readonly drop?: ReadonlyArray<string>
}

/** An issuer with keys `one` and `two`, of which it publishes some. */
const makeIssuer = Effect.promise(async () => {
  const pairs = {
    one: await generateKeyPair("ES256"),
    two: await generateKeyPair("ES256"),
  }
  const published: Array<keyof typeof pairs> = ["one"]
  const requested: Array<string> = []
  const state = { status: 200, jwksUri: jwks }
  const bodyOf = async (url: string): Promise<unknown> => {
    if (url === "https://issuer.test/.well-known/oauth-authorization-server/tenant") {
      return { issuer, jwks_uri: state.jwksUri }
    }
    if (url !== jwks) return undefined
    const keys = published.map(async (kid) => ({
      ...(await exportJWK(pairs[kid].publicKey)),
      kid,
      alg: "ES256",
    }))
    return { keys: await Promise.all(keys) }
  }
  const client = HttpClient.make((request, { href }) =>
    Effect.promise(async () => {
      requested.push(href)
      const body = await bodyOf(href)
      const response = new Response(JSON.stringify(body ?? {}), {
        status: body === undefined ? 404 : state.status,
      })
      return HttpClientResponse.fromWeb(request, response)
    }),
  )
  const sign = ({ alg = "ES256", claims = {}, drop = [], kid = "one" }: Signed = {}) =>
    Effect.promise(() => {
      const payload = {
        iss: issuer,
        aud: resource,
        sub: "ada",
        scope: "other converse",
        exp: 3600,
        ...claims,
      }
      const kept = Object.fromEntries(
        Object.entries(payload).filter(([name]) => !drop.includes(name)),
      )
      const key =
        alg === "HS256"
          ? new TextEncoder().encode("a secret that is shared, and long enough")
          : pairs[kid === "two" ? "two" : "one"].privateKey
      return new SignJWT(kept).setProtectedHeader({ alg, kid }).sign(key)
    })
  return { client, published, requested, sign, state }
})

type Issuer = Effect.Success<typeof makeIssuer>

const verifierOf = (from: Issuer, more: Partial<AccessTokenOptions> = {}) =>
  Effect.provideService(make({ ...options, ...more }), HttpClient.HttpClient, from.client)

const shown = (error: NotIdentified) =>
  error._tag === "IssuerUnavailable" ? [error._tag] : [error._tag, error.challenge]

const metadata =
  'Bearer resource_metadata="https://colloquy.test/.well-known/oauth-protected-resource/mcp", scope="converse"'
const invalid = ["Unauthorized", `${metadata}, error="invalid_token"`]

describe("access tokens of an issuer", () => {
  it.effect("a valid one acts for its subject, under a name that no other source has", () =>
    Effect.gen(function* () {
      const from = yield* makeIssuer
      const { identify } = yield* verifierOf(from)
      assert.strictEqual(yield* identify(yield* from.sign()), "oauth:ada")
      const local = yield* from.sign({ claims: { sub: "local" } })
      assert.strictEqual(yield* identify(local), "oauth:local")
      const listed = yield* from.sign({ drop: ["scope"], claims: { scp: ["converse"] } })
      assert.strictEqual(yield* identify(listed), "oauth:ada")
    }),
  )

  it.effect.each([
    ["another issuer", { claims: { iss: "https://other.test" } }],
    ["another audience", { claims: { aud: "https://other.test/mcp" } }],
    ["no audience", { drop: ["aud"] }],
    ["expired", { claims: { exp: 900 } }],
    ["not valid yet", { claims: { nbf: 2000 } }],
    ["no expiry", { drop: ["exp"] }],
    ["no subject", { drop: ["sub"] }],
    ["an empty subject", { claims: { sub: "" } }],
    ["a subject without end", { claims: { sub: "x".repeat(300) } }],
    ["a shared secret", { alg: "HS256" }],
    ["an unknown key", { kid: "three" }],
  ] as ReadonlyArray<readonly [string, Signed]>)("%s: not valid", ([, signed]) =>
    Effect.gen(function* () {
      yield* TestClock.adjust("1000 seconds")
      const from = yield* makeIssuer
      const { identify } = yield* verifierOf(from)
      const token = yield* from.sign(signed)
      const error = yield* Effect.flip(identify(token))
      assert.deepStrictEqual(shown(error), invalid)
      assert.notInclude(error.message, token)
    }),
  )

  it.effect("what is no token, and one without a signature or with another one, is not valid", () =>
    Effect.gen(function* () {
      const from = yield* makeIssuer
      const { identify } = yield* verifierOf(from)
      const [head = "", body = "", signature = ""] = (yield* from.sign()).split(".")
      const none = Buffer.from(JSON.stringify({ alg: "none" })).toString("base64url")
      const other = (yield* from.sign({ claims: { sub: "bob" } })).split(".")[1] ?? ""
      for (const token of [
        "",
        "a.b",
        "a.b.c",
        `${none}.${body}.`,
        `${head}.${body}.`,
        `${head}.${other}.${signature}`,
      ]) {
        assert.deepStrictEqual(shown(yield* Effect.flip(identify(token))), invalid, token)
      }
    }),
  )

  it.effect("one without a scope that is needed is refused with the scopes", () =>
    Effect.gen(function* () {
      const from = yield* makeIssuer
      const { identify } = yield* verifierOf(from)
      for (const signed of [{ drop: ["scope"] }, { claims: { scope: "conversed" } }]) {
        const error = yield* Effect.flip(identify(yield* from.sign(signed)))
        assert.deepStrictEqual(shown(error), [
          "InsufficientScope",
          `${metadata}, error="insufficient_scope"`,
        ])
      }
    }),
  )

  it.effect("expires by the clock of the server, with a tolerance of 30 seconds", () =>
    Effect.gen(function* () {
      const from = yield* makeIssuer
      const { identify } = yield* verifierOf(from)
      const token = yield* from.sign()
      yield* TestClock.adjust("3629 seconds")
      assert.strictEqual(yield* identify(token), "oauth:ada")
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(shown(yield* Effect.flip(identify(token))), invalid)
    }),
  )
})

describe("the keys of an issuer", () => {
  it.effect("are fetched once in ten minutes, however many requests there are", () =>
    Effect.gen(function* () {
      const from = yield* makeIssuer
      const { identify } = yield* verifierOf(from)
      const token = yield* from.sign()
      assert.deepStrictEqual(from.requested, [])
      yield* Effect.forEach(Array.from({ length: 20 }), () => identify(token), {
        concurrency: "unbounded",
      })
      assert.lengthOf(from.requested, 2)
      yield* TestClock.adjust("10 minutes")
      yield* identify(token)
      assert.lengthOf(from.requested, 4)
    }),
  )

  it.effect("are fetched again for a key that is not known, at most every 30 seconds", () =>
    Effect.gen(function* () {
      const from = yield* makeIssuer
      const { identify } = yield* verifierOf(from, { jwksUri: jwks })
      yield* identify(yield* from.sign())
      const rotated = yield* from.sign({ kid: "two" })
      for (let n = 0; n < 5; n++) yield* Effect.flip(identify(rotated))
      assert.deepStrictEqual(from.requested, [jwks])
      from.published.push("two")
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual(yield* identify(rotated), "oauth:ada")
      assert.lengthOf(from.requested, 2)
      for (let n = 0; n < 5; n++) {
        yield* Effect.flip(identify(yield* from.sign({ kid: "three" })))
      }
      assert.lengthOf(from.requested, 2)
    }),
  )

  it.effect(
    "stay in use while the issuer does not respond; without any the client is to wait",
    () =>
      Effect.gen(function* () {
        const from = yield* makeIssuer
        const { identify } = yield* verifierOf(from)
        const token = yield* from.sign()
        from.state.status = 500
        assert.deepStrictEqual(shown(yield* Effect.flip(identify(token))), ["IssuerUnavailable"])
        from.state.status = 200
        yield* identify(token)
        from.state.status = 500
        yield* TestClock.adjust(Duration.minutes(20))
        assert.strictEqual(yield* identify(token), "oauth:ada")
      }),
  )

  it.effect("are not read from an address that others can write to", () =>
    Effect.gen(function* () {
      const from = yield* makeIssuer
      from.state.jwksUri = "http://issuer.test/keys"
      const { identify } = yield* verifierOf(from)
      const error = yield* Effect.flip(identify(yield* from.sign()))
      assert.deepStrictEqual(shown(error), ["IssuerUnavailable"])
      for (const more of [
        { issuer: "http://issuer.test" },
        { issuer: "nonsense" },
        { resource: "http://colloquy.test" },
        { jwksUri: "https://user:password@issuer.test" },
      ]) {
        assert.instanceOf(yield* Effect.flip(verifierOf(from, more)), BadAccessTokenOptions)
      }
      yield* verifierOf(from, { issuer: "http://127.0.0.1:8080", resource: "http://localhost" })
    }),
  )
})
