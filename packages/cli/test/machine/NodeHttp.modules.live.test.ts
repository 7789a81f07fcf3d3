import { assert, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"

const file = new URL("../../src/machine/NodeHttp.ts", import.meta.url).href

describe("NodeHttp", () => {
  it("evaluates no module of Node for WebSockets, which takes longer than the first request", () => {
    const program = `await import(${JSON.stringify(file)}); process.stdout.write(process.moduleLoadList.join("\\n"))`
    const loaded = execFileSync(process.execPath, ["--input-type=module", "-e", program], {
      encoding: "utf8",
    }).split("\n")
    assert.include(loaded, "NativeModule http")
    assert.deepStrictEqual(
      loaded.filter((name) => name.includes("undici")),
      [],
    )
  })
})
