import { assert, describe, it } from "@effect/vitest"
import * as ChildProcess from "node:child_process"
import * as Path from "node:path"

const module = Path.join(import.meta.dirname, "../../src/mcp/ToolServers.ts")

/**
 * Reads the modules that a process loads to import `ToolServers`. Effect itself loads a few small modules of
 * `http`, and the definitions of methods load modules of `rpc` that the server has loaded already.
 */
const script = `
  import { registerHooks } from "node:module"
  const loaded = []
  registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
  await import(${JSON.stringify(module)})
  console.log(JSON.stringify(loaded))
`

describe("import cost", () => {
  it("neither effect/ai nor HTTP is loaded before a server is started", () => {
    const { stderr, stdout } = ChildProcess.spawnSync(
      process.execPath,
      ["--input-type=module", "-e", script],
      { encoding: "utf8" },
    )
    assert.strictEqual(stderr, "")
    const loaded: ReadonlyArray<string> = JSON.parse(stdout)
    assert.isTrue(loaded.some((url) => url.endsWith("/mcp/ToolServer.ts")))
    assert.deepStrictEqual(
      loaded.filter((url) =>
        /\/effect\/dist\/(?:ai\/|rpc\/Rpc(?:Client|Server)|http\/(?:HttpClient|FetchHttpClient))/.test(
          url,
        ),
      ),
      [],
    )
  })
})
