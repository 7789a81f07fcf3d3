import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpHeaders from "effect/http/Headers"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as TestClock from "effect/testing/TestClock"
import { fromTokens, parseTokens, sha256Of } from "../../src/auth/Principals.ts"
import * as Guard from "../../src/guard/Guard.ts"

type Headers = Readonly<Record<string, string>>

const good: Headers = { host: "127.0.0.1:8080", authorization: "Bearer secret" }

/** A guard that knows one token, of `anna`. */
const guarded = Effect.fnUntraced(function* (options: Partial<Guard.GuardOptions> = {}) {
  const known = [{ sha256: yield* sha256Of("secret"), principal: "anna" }]
  const guard = Guard.make({ principals: fromTokens(known), ...options })
  return (headers: Headers) => {
    const web = new Request("http://server/mcp", { method: "POST" })
    const request = HttpServerRequest.fromWeb(web).modify({
      headers: HttpHeaders.fromInput(headers),
    })
    return guard.pass(request, (_, principal) =>
      Effect.succeed(HttpServerResponse.text(principal, { status: 200 })),
    )
  }
})

describe("the guard", () => {
  it.effect("passes requests with a known token to this server only", () =>
    Effect.gen(function* () {
      const pass = yield* guarded()
      const statusOf = (headers: Headers) =>
        Effect.map(Effect.scoped(pass(headers)), ({ status }) => status)
      assert.strictEqual(yield* statusOf(good), 200)
      assert.strictEqual(yield* statusOf({ ...good, origin: "http://localhost:3000" }), 200)
      for (const host of ["evil.example", "127.0.0.1.evil.example", "", "127.0.0.1@evil"]) {
        assert.strictEqual(yield* statusOf({ ...good, host }), 403, host)
      }
      for (const origin of [
        "http://evil.example",
        "null",
        "file://",
        "http://localhost@evil.example",
      ]) {
        assert.strictEqual(yield* statusOf({ ...good, origin }), 403, origin)
      }
      for (const authorization of [
        "",
        "Bearer",
        "Bearer other",
        "Basic secret",
        "Bearer secret2",
      ]) {
        assert.strictEqual(yield* statusOf({ ...good, authorization }), 401, authorization)
      }
      const { headers } = yield* Effect.scoped(pass({ host: "localhost" }))
      assert.strictEqual(headers["www-authenticate"], "Bearer")
      assert.isUndefined(headers["access-control-allow-origin"])
    }),
  )

  it.effect("limits the rate of a principal, the requests at once, and the body", () =>
    Effect.gen(function* () {
      const pass = yield* guarded({ maxRate: 2, maxRequests: 1, maxBodyBytes: 10 })
      const large = yield* Effect.scoped(pass({ ...good, "content-length": "11" }))
      assert.strictEqual(large.status, 413)
      yield* Effect.scoped(
        Effect.gen(function* () {
          assert.strictEqual((yield* pass(good)).status, 200)
          yield* TestClock.adjust("10 seconds")
          const busy = yield* pass(good)
          assert.deepStrictEqual([busy.status, busy.headers["retry-after"]], [503, "1"])
        }),
      )
      assert.strictEqual((yield* Effect.scoped(pass(good))).status, 200)
      const fast = yield* Effect.scoped(pass(good))
      assert.deepStrictEqual([fast.status, fast.headers["retry-after"]], [429, "10"])
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual((yield* Effect.scoped(pass(good))).status, 200)
    }),
  )
})

describe("a tokens file", () => {
  it.effect("has hashes and principals, and names its first wrong line", () =>
    Effect.gen(function* () {
      const hash = yield* sha256Of("abc")
      assert.strictEqual(hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
      assert.deepStrictEqual(parseTokens(`# people\n\n${hash.toUpperCase()} anna\r\n`), {
        known: [{ sha256: hash, principal: "anna" }],
      })
      assert.strictEqual(parseTokens(`${hash} anna\nabc otto`).badLine, 2)
    }),
  )
})
