import { assert, describe, it } from "@effect/vitest"
import type { HttpOptions } from "../../src/args/HttpOptions.ts"
import { accessTokenOptions, accessTokenFault } from "../../src/http/AccessTokenSettings.ts"

const usable: HttpOptions = {
  oauth_issuer: "https://issuer.test",
  oauth_resource: "https://colloquy.test/mcp",
}

describe("the settings of access tokens", () => {
  it("are optional, and complete with an issuer and a resource", () => {
    assert.isUndefined(accessTokenFault({}))
    assert.isUndefined(accessTokenOptions({}))
    assert.isUndefined(accessTokenFault(usable))
    assert.deepStrictEqual(
      accessTokenOptions({ ...usable, oauth_scopes: ["a"], oauth_audience: "b" }),
      {
        issuer: "https://issuer.test",
        resource: "https://colloquy.test/mcp",
        scopes: ["a"],
        audience: "b",
      },
    )
  })

  for (const [options, problem] of [
    [{ oauth_issuer: "https://issuer.test" }, /need each other/],
    [{ oauth_scopes: ["a"] }, /need each other/],
    [{ ...usable, authentication: "none" }, /needs `http.authentication = "token"`/],
    [{ ...usable, oauth_issuer: "http://issuer.test" }, /^`http.oauth_issuer`: expected an https/],
    [{ ...usable, oauth_jwks_uri: "keys" }, /^`http.oauth_jwks_uri`: expected an https/],
  ] as ReadonlyArray<readonly [HttpOptions, RegExp]>) {
    it(`not ${JSON.stringify(options)}`, () => {
      assert.match(accessTokenFault(options)?.message ?? "", problem)
    })
  }
})
