import { assert, describe, it } from "@effect/vitest"
import { AppServer } from "../src/app/AppServer.ts"
import { otherDialectOf } from "../src/Dialects.ts"
import { CodexMcp } from "../src/mcp/CodexMcp.ts"
import { methodsOf } from "../src/Method.ts"
import { AppServerV2 } from "../src/thread/AppServerV2.ts"
import { unsupportedMethods } from "../src/thread/Unsupported.ts"

const mcp = {
  name: CodexMcp.name,
  command: "colloquy mcp",
  methods: [...methodsOf(CodexMcp.clientToServer).keys()],
}
const app = {
  name: AppServer.name,
  command: "colloquy app-server",
  methods: [...methodsOf(AppServer.clientToServer).keys()],
}

const names = [mcp.name, app.name]

describe("otherDialectOf", () => {
  it.each([
    [mcp, app],
    [app, mcp],
  ] as const)(
    "finds every method of the other dialect, and none of the same one: $name",
    (spoken, other) => {
      const foreign = other.methods.filter((name) => !spoken.methods.includes(name))
      assert.isAbove(foreign.length, 15)
      for (const method of foreign) {
        const { command, name: dialect } = other
        assert.deepStrictEqual(otherDialectOf(method, spoken.name), { dialect, command })
      }
      for (const method of spoken.methods) {
        assert.isUndefined(otherDialectOf(method, spoken.name))
      }
    },
  )

  it.each([
    "thread/start",
    "turn/interrupt",
    "account/read",
    "account/logout",
    "command/exec",
    "command/exec/write",
    "command/exec/resize",
    "command/exec/terminate",
    "config/read",
    "config/value/write",
    "config/batchWrite",
    "configRequirements/read",
    "skills/list",
    "review/start",
    "fs/readFile",
    "mcpServerStatus/list",
    "permissionProfile/list",
    "collaborationMode/list",
  ])("recognises app-server v2, which is not served: %s", (method) => {
    for (const spoken of names) {
      assert.deepStrictEqual(otherDialectOf(method, spoken), { dialect: AppServerV2.name })
    }
  })

  it("gives the reason for every method of app-server v2 that is not supported, to clients of it too", () => {
    for (const { methods, reason } of unsupportedMethods) {
      for (const name of methods) {
        const method = name.endsWith("/") ? `${name}anything` : name
        for (const spoken of [...names, AppServerV2.name]) {
          assert.deepStrictEqual(otherDialectOf(method, spoken), {
            dialect: AppServerV2.name,
            reason,
          })
        }
      }
    }
  })

  it("has no defined method among those that are not supported", () => {
    const all = unsupportedMethods.flatMap(({ methods }) => methods)
    assert.strictEqual(new Set(all).size, all.length)
    assert.deepStrictEqual(
      all.filter((name) => methodsOf(AppServerV2.clientToServer).has(name)),
      [],
    )
    for (const method of methodsOf(AppServerV2.clientToServer).keys()) {
      assert.isUndefined(otherDialectOf(method, AppServerV2.name))
    }
  })

  it("recognises as app-server v2 no method that a dialect served here has", () => {
    for (const { methods } of [mcp, app]) {
      for (const method of methods) {
        for (const spoken of names) {
          assert.notStrictEqual(otherDialectOf(method, spoken)?.dialect, AppServerV2.name, method)
        }
      }
    }
  })

  it.each([
    "no/such/method",
    "",
    "__proto__",
    "xthread/start",
    "thread",
    "account",
    "fs/",
    "fs//x",
  ])("finds none for %j", (method) => {
    for (const spoken of names) assert.isUndefined(otherDialectOf(method, spoken))
  })
})
