import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import { guarded, type GuardOptions, principal, RouteTable } from "../../src/guard/Guard.ts"
import { Limits } from "../../src/guard/Limits.ts"
import { knownTokens } from "../support/Guards.ts"

const whoAmI = Effect.map(principal, (name) => HttpServerResponse.text(name))

const routes = Layer.mergeAll(
  HttpRouter.add("GET", "/one", whoAmI),
  HttpRouter.addAll([
    HttpRouter.route("POST", "/two", whoAmI),
    HttpRouter.route("*", "/three", whoAmI),
  ]),
  HttpRouter.use((router) => router.prefixed("/deep").add("GET", "/four", whoAmI)),
)

const tokens = Layer.merge(knownTokens, Limits.layer())

interface Sent {
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array<ArrayBuffer>
}

const good = { host: "localhost:8080", authorization: "Bearer secret-of-ada" }

/** Serves one request and returns what a client sees of the response. */
const served = (
  { body, headers = good, method = "GET", path = "/one" }: Sent,
  options: GuardOptions = {},
  served: typeof routes = routes,
) =>
  Effect.gen(function* () {
    const app = yield* HttpRouter.toHttpEffect(guarded(served, options))
    const request = new Request(`http://localhost:8080${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    })
    const response = yield* app.pipe(
      Effect.provideService(
        HttpServerRequest.HttpServerRequest,
        HttpServerRequest.fromWeb(request),
      ),
    )
    const answer = HttpServerResponse.toWeb(response)
    return {
      status: answer.status,
      text: yield* Effect.promise(() => answer.text()),
      challenge: answer.headers.get("www-authenticate"),
    }
  }).pipe(Effect.scoped, Effect.provide([tokens, RouteTable.layer]))

describe("the guard of routes", () => {
  it.effect("serves a request with the principal of its token", () =>
    Effect.gen(function* () {
      assert.deepInclude(yield* served({}), { status: 200, text: "ada" })
      const bob = { ...good, authorization: "bearer secret-of-bob" }
      assert.deepInclude(yield* served({ headers: bob }), { status: 200, text: "bob" })
    }),
  )

  it.effect("is in front of every route, however it was added", () =>
    Effect.gen(function* () {
      const table = yield* RouteTable
      yield* Effect.asVoid(Effect.scoped(HttpRouter.toHttpEffect(guarded(routes))))
      const listed = yield* table.routes
      assert.sameDeepMembers(
        [...listed],
        [
          { method: "GET", path: "/one", isPublic: false },
          { method: "POST", path: "/two", isPublic: false },
          { method: "*", path: "/three", isPublic: false },
          { method: "GET", path: "/deep/four", isPublic: false },
        ],
      )
      for (const { method, path } of listed) {
        const sent = { method: method === "*" ? "PUT" : method, path }
        assert.strictEqual((yield* served(sent)).status, 200)
        assert.strictEqual((yield* served({ ...sent, headers: { host: good.host } })).status, 401)
        assert.strictEqual(
          (yield* served({ ...sent, headers: { ...good, host: "evil.example" } })).status,
          403,
        )
        const foreign = { ...good, origin: "https://evil.example" }
        assert.strictEqual((yield* served({ ...sent, headers: foreign })).status, 403)
      }
    }).pipe(Effect.provide([tokens, RouteTable.layer])),
  )

  it.effect("says how to authenticate, and never repeats what was sent", () =>
    Effect.gen(function* () {
      const refused = (authorization?: string) =>
        served({
          headers: { host: good.host, ...(authorization === undefined ? {} : { authorization }) },
        })
      assert.strictEqual((yield* refused()).challenge, 'Bearer realm="colloquy"')
      for (const [sent, error] of [
        ["Bearer wrong-token", "invalid_token"],
        ["Bearer secret-of-ad", "invalid_token"],
        ["Basic c2VjcmV0LW9mLWFkYQ==", "invalid_request"],
        ["Bearer two words", "invalid_request"],
        ["secret-of-ada", "invalid_request"],
      ] as const) {
        const { challenge, status, text } = yield* refused(sent)
        assert.deepStrictEqual(
          { status, challenge },
          { status: 401, challenge: `Bearer realm="colloquy", error="${error}"` },
        )
        assert.notInclude(text, sent.split(" ").at(-1) ?? "")
      }
    }),
  )

  it.effect("accepts the hosts of the allow-list only, whatever the port", () =>
    Effect.gen(function* () {
      for (const [host, status] of [
        ["localhost", 200],
        ["LOCALHOST:1", 200],
        ["127.0.0.1:8080", 200],
        ["[::1]:8080", 200],
        ["localhost.evil.example", 403],
        ["127.0.0.1.evil.example:8080", 403],
        ["0.0.0.0:8080", 403],
        ["user@localhost", 400],
        ["localhost:8080, evil.example", 400],
      ] as const) {
        assert.strictEqual((yield* served({ headers: { ...good, host } })).status, status, host)
      }
      const addresses = { hosts: ["example.org:8443"], origins: [] }
      const at = (host: string) => served({ headers: { ...good, host } }, { addresses })
      assert.strictEqual((yield* at("example.org:8443")).status, 200)
      assert.strictEqual((yield* at("example.org")).status, 403)
    }),
  )

  it.effect("accepts pages of the server itself and of listed origins only", () =>
    Effect.gen(function* () {
      const addresses = { hosts: ["localhost"], origins: ["https://app.example"] }
      for (const [origin, status] of [
        ["http://localhost:8080", 200],
        ["https://app.example", 200],
        ["http://localhost:3000", 403],
        ["http://app.example", 403],
        ["https://app.example.evil.example", 403],
        ["null", 403],
      ] as const) {
        const headers = { ...good, origin }
        assert.strictEqual((yield* served({ headers }, { addresses })).status, status, origin)
      }
    }),
  )

  it.effect("refuses a body whose stated length is above the limit before it is read", () =>
    Effect.gen(function* () {
      const post = (length: string) =>
        served(
          {
            method: "POST",
            path: "/two",
            headers: { ...good, "content-length": length },
            body: "x",
          },
          { maxBodyBytes: 10 },
        )
      assert.strictEqual((yield* post("11")).status, 413)
      assert.strictEqual((yield* post("10")).status, 200)
    }),
  )

  it.effect("refuses a body in another coding or charset than it reads", () =>
    Effect.gen(function* () {
      for (const [header, value, status] of [
        ["content-encoding", "identity", 200],
        ["content-encoding", "gzip", 415],
        ["content-encoding", "br, gzip", 415],
        ["content-type", "application/json; charset=UTF-8", 200],
        ["content-type", 'application/json;charset="utf-8"', 200],
        ["content-type", "application/json; charset=utf-16", 415],
      ] as const) {
        const sent = { method: "POST", path: "/two", body: "x" }
        const headers = { ...good, [header]: value }
        assert.strictEqual((yield* served({ ...sent, headers })).status, status, value)
        // Who has no token does not learn what the server reads.
        const { authorization: _, ...anonymous } = headers
        assert.strictEqual((yield* served({ ...sent, headers: anonymous })).status, 401)
      }
    }),
  )

  it.effect("refuses a body that is not UTF-8, and reads one that is", () =>
    Effect.gen(function* () {
      const text = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
        Effect.map(Effect.orDie(request.text), (body) => HttpServerResponse.text(body)),
      )
      const route = HttpRouter.add("POST", "/read", text)
      const post = (body: Uint8Array<ArrayBuffer>) =>
        served({ method: "POST", path: "/read", body }, {}, route)
      assert.deepInclude(yield* post(new TextEncoder().encode("é\u{1f600}")), {
        status: 200,
        text: "é\u{1f600}",
      })
      for (const bytes of [[0xff], [0x22, 0xc3, 0x22], [0xed, 0xa0, 0x80]]) {
        const refused = yield* post(Uint8Array.from(bytes))
        assert.strictEqual(refused.status, 400)
        assert.deepStrictEqual(JSON.parse(refused.text), {
          code: "invalid_request",
          message: "the body: expected UTF-8",
        })
      }
    }),
  )

  it.effect("serves a public route without a token, at the hosts of the allow-list only", () =>
    Effect.gen(function* () {
      const open = HttpRouter.add("GET", "/open", HttpServerResponse.text("open"))
      const at = (host: string) =>
        served({ path: "/open", headers: { host } }, { isPublic: true }, open)
      assert.deepInclude(yield* at("localhost"), { status: 200, text: "open" })
      assert.strictEqual((yield* at("evil.example")).status, 403)
    }),
  )

  it.effect("lets a route without it act for nobody", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(principal)
      assert.strictEqual(exit._tag, "Failure")
    }),
  )
})
