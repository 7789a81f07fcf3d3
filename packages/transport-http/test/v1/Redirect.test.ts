import { assert, describe, it } from "@effect/vitest"
import { redirectTo } from "../../src/v1/Redirect.ts"

const id = "0199a213-81c0-7800-8aa1-bbab2a035a53"
const path = `/v1/conversations/${id}`
const local = "http://127.0.0.1:8747"

describe("where a request for a conversation of another process goes", () => {
  for (const [url, request, host, location] of [
    [local, `${path}/turns?wait=true`, "127.0.0.1:9000", `${local}${path}/turns?wait=true`],
    [local, path, "localhost", `${local}${path}`],
    [local, `${path}/questions/12`, "[::1]:9000", `${local}${path}/questions/12`],
    ["https://a.example", `${path}/interrupt`, "b.example", `https://a.example${path}/interrupt`],
    ["https://a.example/api/", `${path}/fork`, "b", `https://a.example/api${path}/fork`],
    // Of the query only what the route knows.
    [
      local,
      `${path}/turns?wait=true&next=https://evil.example`,
      "localhost",
      `${local}${path}/turns?wait=true`,
    ],
    [local, `${path}/turns?x=%0d%0aset-cookie:a`, "localhost", `${local}${path}/turns`],
  ] as const) {
    it(`${request} of ${host} to ${url}`, () => {
      assert.strictEqual(redirectTo(url, request, host), location)
    })
  }

  for (const [url, request, host, why] of [
    [undefined, path, "localhost", "nothing is published"],
    [local, path, "example.org", "the loopback interface of a client elsewhere is its own"],
    [local, path, undefined, "the client names no host"],
    ["http://127.0.0.1.evil.example", "//evil.example/", "localhost", "the path is not a route"],
    [local, `//evil.example${path}`, "localhost", "the path names a server"],
    [local, `http://evil.example${path}`, "localhost", "the target names a server"],
    [local, `${path}/../../..//evil.example`, "localhost", "the path leaves the route"],
    [local, `${path}/turns\r\nx: y`, "localhost", "the path has a line break"],
    ["https://user:secret@a.example", path, "localhost", "the address has credentials"],
    ["https://a.example/?to=", path, "localhost", "the address has a query"],
    ["https://a.example/#", `${path}#`, "localhost", "the path has a fragment"],
    ["javascript:alert(1)", path, "localhost", "the address is no web address"],
    ["file:///etc", path, "localhost", "the address is no web address"],
    ["nonsense", path, "localhost", "the address is none"],
  ] as const) {
    it(`nowhere, because ${why}: ${String(url)} ${JSON.stringify(request)}`, () => {
      assert.isUndefined(redirectTo(url, request, host))
    })
  }
})
