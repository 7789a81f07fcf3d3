import { assert, describe, it } from "@effect/vitest"
import * as McpSchema from "effect/ai/McpSchema"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import {
  resource,
  ResourceNotFound,
  type ResourceRequest,
  resourceTemplate,
} from "../../../src/features/Resource.ts"
import { stateless, withFeatures } from "../../support/Featuring.ts"

const read = (uri: string, answer: () => Effect.Effect<string | Uint8Array, unknown>) =>
  resource({ uri, name: uri, mimeType: "text/x", read: answer })

const definitions = {
  resources: [
    read("x:text", () => Effect.succeed("é")),
    read("x:bytes", () => Effect.succeed(new Uint8Array([0, 255]))),
    resource({
      uri: "x:several",
      name: "several",
      read: () =>
        Effect.succeed([
          { uri: "x:several/1", text: "1", _meta: { "example.com/x": 1 } },
          { uri: "x:several/2", blob: "AA==", mimeType: "image/png" },
        ]),
    }),
    resource({ uri: "x:none", name: "none", read: () => Effect.succeed([]) }),
    read("x:gone", () => Effect.fail(new ResourceNotFound({ uri: "x:gone" }))),
    read("x:fails", () => Effect.fail("secret")),
    read("x:dies", () => Effect.die("secret")),
  ],
  resourceTemplates: [
    resourceTemplate({
      uriTemplate: "y:{a}/{+b}",
      name: "y",
      read: ({ params, uri }: ResourceRequest) => Effect.succeed(JSON.stringify({ params, uri })),
    }),
    resourceTemplate({
      uriTemplate: "y:{a}",
      name: "z",
      read: ({ params }: ResourceRequest) => Effect.succeed(`one ${params["a"]}`),
    }),
  ],
}

describe("resources/read", () => {
  it.effect.each<readonly [uri: string, contents: unknown]>([
    ["x:text", [{ uri: "x:text", mimeType: "text/x", text: "é" }]],
    ["x:bytes", [{ uri: "x:bytes", mimeType: "text/x", blob: "AP8=" }]],
    [
      "x:several",
      [
        { uri: "x:several/1", text: "1", _meta: { "example.com/x": 1 } },
        { uri: "x:several/2", blob: "AA==", mimeType: "image/png" },
      ],
    ],
    [
      "y:a%20b/c/d",
      [
        {
          uri: "y:a%20b/c/d",
          text: JSON.stringify({ params: { a: "a b", b: "c/d" }, uri: "y:a%20b/c/d" }),
        },
      ],
    ],
    ["y:q", [{ uri: "y:q", text: "one q" }]],
  ])("returns the contents of %s", ([uri, contents]) =>
    withFeatures(definitions, (server) =>
      Effect.gen(function* () {
        const { result } = yield* server.ask(1, "resources/read", { uri })
        assert.deepStrictEqual(result, { contents })
        yield* Schema.decodeUnknownEffect(McpSchema.ReadResourceResult)(result)
        const new_ = yield* server.ask(2, "resources/read", stateless({ uri }))
        assert.deepStrictEqual(new_.result?.["contents"], contents)
        assert.deepStrictEqual(
          [new_.result?.["resultType"], new_.result?.["ttlMs"], new_.result?.["cacheScope"]],
          ["complete", 0, "private"],
        )
      }),
    ),
  )

  it.effect.each(["x:unknown", "x:none", "x:gone", "y:%zz", "", "no address"])(
    "responds that %j is not found with the code of the revision",
    (uri) =>
      withFeatures(definitions, (server) =>
        Effect.gen(function* () {
          const error = { message: "Resource not found", data: { uri } }
          const old = yield* server.ask(1, "resources/read", { uri })
          assert.deepStrictEqual(old.error, { code: -32002, ...error })
          const new_ = yield* server.ask(2, "resources/read", stateless({ uri }))
          assert.deepStrictEqual(new_.error, { code: -32602, ...error })
        }),
      ),
  )

  it.effect("L13 a defect is an internal error without any secret, and the server continues", () =>
    withFeatures(definitions, (server) =>
      Effect.gen(function* () {
        for (const [id, uri] of ["x:fails", "x:dies"].entries()) {
          const { error } = yield* server.ask(id, "resources/read", { uri })
          assert.deepStrictEqual(error, { code: -32603, message: "Internal error" })
        }
        const { result } = yield* server.ask(9, "resources/read", { uri: "x:text" })
        assert.isDefined(result)
      }),
    ),
  )

  it.effect("an address of 8 MiB is not found, without delay", () =>
    withFeatures(definitions, (server) =>
      Effect.gen(function* () {
        const uri = `y:${"a/".repeat(4 * 1024 * 1024)}`
        const { error } = yield* server.ask(1, "resources/read", { uri })
        assert.strictEqual(error?.code, -32002)
      }),
    ),
  )
})
