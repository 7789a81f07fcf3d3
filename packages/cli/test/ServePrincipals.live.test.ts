/** Several principals of one server that listens: the built program, sockets, a file of principals and an issuer. */
import { knownToken } from "@colloquy/transport-http/guard/Principals"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { exportJWK, generateKeyPair, SignJWT } from "jose"
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { buildIfMissing } from "./support/BuiltProgram.ts"
import { request, startHttp } from "./support/HttpProcess.ts"
import { home as makeHome } from "./support/Home.ts"

const aliceToken = "a-token-of-alice-that-nobody-guesses"

/** An issuer with one key, on a port of its own, until the scope closes. */
const issuing = Effect.gen(function* () {
  const { privateKey, publicKey } = yield* Effect.promise(() => generateKeyPair("ES256"))
  const key = { ...(yield* Effect.promise(() => exportJWK(publicKey))), kid: "one", alg: "ES256" }
  const node = createServer((incoming, response) => {
    const isMetadata = incoming.url === "/.well-known/oauth-authorization-server"
    response.setHeader("content-type", "application/json")
    response.end(
      JSON.stringify(isMetadata ? { issuer: url(), jwks_uri: `${url()}/keys` } : { keys: [key] }),
    )
  })
  const url = () => `http://127.0.0.1:${(node.address() as AddressInfo).port}`
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      node.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.callback<void>((resume) => {
        node.closeAllConnections()
        node.close(() => resume(Effect.void))
      }),
  )
  const sign = (claims: Readonly<Record<string, unknown>>) =>
    Effect.promise(() =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: "ES256", kid: "one" })
        .setIssuer(url())
        .setExpirationTime("1h")
        .sign(privateKey),
    )
  return { url: url(), sign }
})

const idOf = ({ text }: { readonly text: string }): string =>
  (JSON.parse(text) as { readonly conversationId: string }).conversationId

const errorOf = ({ status, text }: { readonly status: number; readonly text: string }) => {
  const { code, field } = JSON.parse(text) as { readonly code: string; readonly field?: string }
  return { status, code, field }
}

describe("the principals of a server", () => {
  beforeAll(buildIfMissing, 60_000)

  it.live("come from a file, with a quota and a root, and see nothing of each other", () =>
    Effect.gen(function* () {
      const home = yield* makeHome()
      const root = `${home}/work-of-alice`
      mkdirSync(`${root}/a`, { recursive: true })
      symlinkSync("/etc", `${root}/out`)
      const { sha256 } = knownToken(aliceToken, "alice")
      const file = `[principals.alice]\ntokens = ["${sha256}"]\nmax_conversations = 1\nworkspace_root = "${root}"\n`
      writeFileSync(`${home}/principals.toml`, file, { mode: 0o600 })
      const server = yield* startHttp(home, ["serve", "--listen", "http://127.0.0.1:0"])
      const conversations = `${yield* server.url}/v1/conversations`
      const own = { token: readFileSync(`${home}/http-token`, "utf8").trim() }
      const alice = { token: aliceToken }
      for (const cwd of ["/etc", "..", "out", "missing"]) {
        const refused = yield* request(conversations, { ...alice, json: { cwd } })
        assert.deepStrictEqual(errorOf(refused), {
          status: 400,
          code: "invalid_request",
          field: "cwd",
        })
      }
      const hers = yield* request(conversations, { ...alice, json: { cwd: "a" } })
      assert.strictEqual(hers.status, 201, hers.text)
      assert.include(hers.text, `"cwd":"${root}/a"`)
      assert.deepInclude(errorOf(yield* request(conversations, { ...alice, json: {} })), {
        status: 429,
        code: "limit_reached",
      })
      const mine = yield* request(conversations, { ...own, json: { cwd: "/etc" } })
      assert.strictEqual(mine.status, 201, mine.text)
      for (const [id, other, listed] of [
        [idOf(hers), own, idOf(mine)],
        [idOf(mine), alice, idOf(hers)],
      ] as const) {
        assert.strictEqual((yield* request(`${conversations}/${id}`, other)).status, 404)
        const { text } = yield* request(conversations, other)
        assert.include(text, listed)
        assert.notInclude(text, id)
      }
      writeFileSync(`${home}/principals.toml`, "")
      assert.strictEqual((yield* request(conversations, alice)).status, 401)
      assert.notInclude(server.stdout() + server.stderr(), aliceToken)
    }),
  )

  it.live("come from an issuer of access tokens", () =>
    Effect.gen(function* () {
      const issuer = yield* issuing
      const home = yield* makeHome()
      const resource = "https://colloquy.test/mcp"
      const server = yield* startHttp(home, [
        "serve",
        "--listen",
        "http://127.0.0.1:0",
        "-c",
        `http.oauth_issuer="${issuer.url}"`,
        "-c",
        `http.oauth_resource="${resource}"`,
        "-c",
        'http.oauth_scopes=["converse"]',
      ])
      const url = yield* server.url
      const ada = yield* issuer.sign({ sub: "ada", aud: resource, scope: "converse" })
      const bob = yield* issuer.sign({ sub: "bob", aud: resource, scope: "converse" })
      const made = yield* request(`${url}/v1/conversations`, { token: ada, json: {} })
      assert.strictEqual(made.status, 201, made.text)
      const one = `${url}/v1/conversations/${idOf(made)}`
      assert.strictEqual((yield* request(one, { token: ada })).status, 200)
      assert.strictEqual((yield* request(one, { token: bob })).status, 404)
      const metadata = yield* request(`${url}/.well-known/oauth-protected-resource/mcp`, {})
      assert.strictEqual(metadata.status, 200)
      assert.deepInclude(JSON.parse(metadata.text), {
        resource,
        authorization_servers: [issuer.url],
      })
      const without = yield* issuer.sign({ sub: "ada", aud: resource })
      assert.strictEqual((yield* request(one, { token: without })).status, 403)
      const elsewhere = yield* issuer.sign({ sub: "ada", aud: "https://other.test" })
      assert.strictEqual((yield* request(one, { token: elsewhere })).status, 401)
      assert.notInclude(server.stdout() + server.stderr(), ada)
    }),
  )
})
