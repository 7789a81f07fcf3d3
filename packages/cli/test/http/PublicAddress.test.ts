import { assert, describe, it } from "@effect/vitest"
import type { HttpOptions } from "../../src/args/HttpOptions.ts"
import { publicUrlFault, publishedUrl } from "../../src/http/PublicAddress.ts"

const listening = "http://127.0.0.1:8747"
const at = (host: string) => ({ scheme: "http" as const, host, port: 0 })

describe("the address that a server publishes for clients of other servers", () => {
  it("is the one that it listens on", () => {
    assert.strictEqual(publishedUrl("all", at("127.0.0.1"), {}, listening), listening)
  })

  it("is `http.public_url` where that is set", () => {
    const options = { public_url: "https://a.example/api", tls_by_proxy: true }
    assert.strictEqual(
      publishedUrl("all", at("0.0.0.0"), options, listening),
      "https://a.example/api",
    )
  })

  for (const [why, host, options] of [
    ["it listens on every interface", "0.0.0.0", {}],
    ["it listens on every interface of IPv6", "::", {}],
    ["a proxy encrypts", "127.0.0.1", { tls_by_proxy: true }],
    ["a proxy authenticates", "127.0.0.1", { authentication: "proxy" }],
  ] as ReadonlyArray<[string, string, HttpOptions]>) {
    it(`is none where ${why}`, () => {
      assert.isUndefined(publishedUrl("all", at(host), options, listening))
    })
  }

  it("is none of a server without the plain API", () => {
    const options = { public_url: "https://a.example" }
    assert.isUndefined(publishedUrl("mcp", at("127.0.0.1"), options, listening))
    assert.isUndefined(publishedUrl("app-server", at("127.0.0.1"), options, listening))
  })

  it("keeps the server from starting where it is not safe for credentials", () => {
    for (const url of ["http://a.example", "ftp://a.example", "https://u:p@a.example", "a.example"])
      assert.match(
        publicUrlFault({ public_url: url })?.message ?? "",
        /^`http\.public_url`: expected/,
      )
    assert.isUndefined(publicUrlFault({ public_url: "https://a.example/api" }))
    assert.isUndefined(publicUrlFault({}))
  })
})
