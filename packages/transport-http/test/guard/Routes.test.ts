import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { fromTokens, sha256Of } from "../../src/auth/Principals.ts"
import * as Guard from "../../src/guard/Guard.ts"
import * as McpRoutes from "../../src/mcp/McpRoutes.ts"
import { mcpHttp } from "../support/McpHttp.ts"
import { scriptedProgram } from "../support/ScriptedProgram.ts"

const host = { host: "localhost:8080" }
const authorized = { ...host, authorization: "Bearer secret" }

describe("every route of the table", () => {
  it.effect("refuses no token, a wrong token, a foreign host and a foreign origin", () =>
    Effect.gen(function* () {
      const { received, serve } = scriptedProgram()
      const known = [{ sha256: yield* sha256Of("secret"), principal: "anna" }]
      const guard = Guard.make({ principals: fromTokens(known) })
      const { request } = yield* mcpHttp(serve, {}, guard)
      const table = yield* McpRoutes.table(serve)
      assert.isNotEmpty(table)
      for (const { method, path } of table) {
        for (const one of method === "*" ? ["GET", "POST", "DELETE"] : [method]) {
          const statusOf = (headers: Readonly<Record<string, string>>) =>
            Effect.map(
              request(one, headers, one === "POST" ? "{}" : undefined, undefined, path),
              ({ status }) => status,
            )
          const statuses = [
            yield* statusOf(host),
            yield* statusOf({ ...host, authorization: "Bearer wrong" }),
            yield* statusOf({ ...authorized, host: "evil.example" }),
            yield* statusOf({ ...authorized, origin: "http://evil.example" }),
          ]
          assert.deepStrictEqual(statuses, [401, 401, 403, 403], `${one} ${path}`)
          assert.notInclude([401, 403], yield* statusOf(authorized))
        }
      }
      assert.deepStrictEqual(received, [])
    }),
  )
})
