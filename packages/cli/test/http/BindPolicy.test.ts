import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { type ListenAddress, parseListen } from "../../src/args/Addresses.ts"
import type { HttpOptions } from "../../src/args/HttpOptions.ts"
import { bindProblem, hostWarning, ownHosts } from "../../src/http/BindPolicy.ts"

const at = (text: string): ListenAddress => {
  const address = Result.getOrThrow(parseListen(text))
  if (typeof address === "string") throw new Error("expected a port")
  return address
}

const files: HttpOptions = { tls_certificate: "c.pem", tls_key: "k.pem" }

describe("where a server may listen", () => {
  for (const [address, options] of [
    ["http://127.0.0.1:1", {}],
    ["http://127.9.9.9:1", { authentication: "none" }],
    ["ws://[::1]:1", { authentication: "proxy" }],
    ["http://localhost:1", {}],
    ["https://0.0.0.0:1", files],
    ["wss://example.org:1", { ...files, authentication: "proxy" }],
    ["http://0.0.0.0:1", { tls_by_proxy: true }],
    ["http://[::]:1", { tls_by_proxy: true, authentication: "proxy" }],
  ] as const) {
    it(`${address} with ${JSON.stringify(options)}`, () => {
      assert.isUndefined(bindProblem(at(address), options))
    })
  }

  for (const [address, options, problem] of [
    ["http://0.0.0.0:1", {}, /^refusing to listen on 0\.0\.0\.0 without TLS: listen on `https`/],
    ["ws://[::]:1", {}, /^refusing to listen on :: without TLS: listen on `wss`/],
    ["http://192.168.0.1:1", {}, /without TLS/],
    ["http://127.0.0.1.example:1", {}, /without TLS/],
    ["http://localhost.example:1", {}, /without TLS/],
    ["https://0.0.0.0:1", { ...files, authentication: "none" }, /without authentication/],
    [
      "http://0.0.0.0:1",
      { tls_by_proxy: true, authentication: "none" },
      /without authentication.*"proxy" if a proxy in front authenticates$/,
    ],
    ["https://127.0.0.1:1", {}, /`https` needs `http\.tls_certificate` and `http\.tls_key`/],
    ["wss://127.0.0.1:1", { tls_key: "k.pem" }, /`wss` needs/],
    ["http://127.0.0.1:1", files, /have no effect with `http`: listen on `https`/],
  ] as const) {
    it(`not ${address} with ${JSON.stringify(options)}`, () => {
      assert.match(bindProblem(at(address), options) ?? "", problem)
    })
  }
})

describe("the names of a server", () => {
  it("are those of the loopback interface and the address that it listens on", () => {
    const loopback = ["localhost", "127.0.0.1", "[::1]"]
    assert.deepStrictEqual(ownHosts(at("http://127.0.0.1:1")), loopback)
    assert.deepStrictEqual(ownHosts(at("http://[::1]:1")), loopback)
    assert.deepStrictEqual(ownHosts(at("http://0.0.0.0:1")), loopback)
    assert.deepStrictEqual(ownHosts(at("http://10.0.0.1:1")), [...loopback, "10.0.0.1"])
    assert.deepStrictEqual(ownHosts(at("http://[fe80::1]:1")), [...loopback, "[fe80::1]"])
  })

  it("are missing where it listens on every interface and none is configured", () => {
    assert.match(hostWarning(at("https://0.0.0.0:1"), {}) ?? "", /set `http\.hosts`/)
    assert.isUndefined(hostWarning(at("https://0.0.0.0:1"), { hosts: ["example.org"] }))
    assert.isUndefined(hostWarning(at("http://127.0.0.1:1"), {}))
  })
})
