import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as ResourceMetadata from "../../src/auth/ResourceMetadata.ts"
import { guarded } from "../../src/guard/Guard.ts"
import {
  InsufficientScope,
  IssuerUnavailable,
  knownToken,
  Principals,
  Unauthorized,
} from "../../src/guard/Principals.ts"
import { RouteTable } from "../../src/guard/Guard.ts"
import { Limits } from "../../src/guard/Limits.ts"

const resource = "https://colloquy.test/mcp"

/** Knows one token, and asks an issuer about all others: three of them have their own answer. */
const sources = Principals.layerOf({
  tokens: Effect.succeed([knownToken("known", "ada")]),
  verifier: {
    challenge: ResourceMetadata.challengeOf(resource, ["converse"]),
    identify: (token) => {
      const challenge = `Bearer error="${token}"`
      switch (token) {
        case "valid":
          return Effect.succeed("oauth:ada")
        case "scope":
          return new InsufficientScope({ message: "needs a scope", challenge })
        case "later":
          return new IssuerUnavailable({ message: "later", retryAfterSeconds: 5 })
        default:
          return new Unauthorized({ message: "not valid", challenge })
      }
    },
  },
})

const served = (path: string, authorization?: string) =>
  Effect.gen(function* () {
    const metadata = ResourceMetadata.layer({
      issuer: "https://issuer.test",
      resource,
      scopes: ["converse"],
    })
    const routes = Layer.merge(
      guarded(metadata, { isPublic: true }),
      guarded(HttpRouter.add("GET", "/mcp", HttpServerResponse.text("served"))),
    )
    const app = yield* HttpRouter.toHttpEffect(routes)
    const headers = { host: "localhost", ...(authorization === undefined ? {} : { authorization }) }
    const response = HttpServerResponse.toWeb(
      yield* app.pipe(
        Effect.provideService(
          HttpServerRequest.HttpServerRequest,
          HttpServerRequest.fromWeb(new Request(`http://localhost${path}`, { headers })),
        ),
      ),
    )
    return {
      status: response.status,
      text: yield* Effect.promise(() => response.text()),
      challenge: response.headers.get("www-authenticate"),
      retryAfter: response.headers.get("retry-after"),
    }
  }).pipe(Effect.scoped, Effect.provide([sources, RouteTable.layer, Limits.layer()]))

describe("the metadata of a protected resource", () => {
  it.effect.each(["", "/mcp"])("is served to everybody, at its address%s", (path) =>
    Effect.gen(function* () {
      const { status, text } = yield* served(`/.well-known/oauth-protected-resource${path}`)
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(JSON.parse(text), {
        resource,
        authorization_servers: ["https://issuer.test"],
        bearer_methods_supported: ["header"],
        resource_name: "Colloquy",
        scopes_supported: ["converse"],
      })
    }),
  )

  it.effect("is named by the challenge of a request without a token", () =>
    Effect.gen(function* () {
      assert.deepInclude(yield* served("/mcp"), {
        status: 401,
        challenge:
          'Bearer realm="colloquy", resource_metadata="https://colloquy.test/.well-known/oauth-protected-resource/mcp", scope="converse"',
      })
    }),
  )

  it.effect("each answer of an issuer has its status", () =>
    Effect.gen(function* () {
      assert.deepInclude(yield* served("/mcp", "Bearer known"), { status: 200 })
      assert.deepInclude(yield* served("/mcp", "Bearer valid"), { status: 200 })
      assert.deepInclude(yield* served("/mcp", "Bearer scope"), {
        status: 403,
        challenge: 'Bearer error="scope"',
      })
      assert.deepInclude(yield* served("/mcp", "Bearer other"), {
        status: 401,
        challenge: 'Bearer error="other"',
      })
      assert.deepInclude(yield* served("/mcp", "Bearer later"), {
        status: 503,
        challenge: null,
        retryAfter: "5",
      })
    }),
  )

  it("has no path behind it for a resource without one", () => {
    assert.strictEqual(
      ResourceMetadata.challengeOf("https://colloquy.test/", []),
      'resource_metadata="https://colloquy.test/.well-known/oauth-protected-resource"',
    )
  })
})
