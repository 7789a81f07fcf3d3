import { keysOf } from "@colloquy/core/settings/ConfigKeys"
import { ConfigFault } from "@colloquy/core/settings/ConfigFault"
import * as ConfigTree from "@colloquy/core/settings/ConfigTree"
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { readFileSync } from "node:fs"
import { help } from "../src/Help.ts"
import { ServerOptions, serverOptions } from "../src/ServerOptions.ts"

const readme = readFileSync(new URL("../../../README.md", import.meta.url), "utf8")

describe("ServerOptions", () => {
  it.each([
    ...keysOf(ServerOptions).map(({ path }) => path.replace(/^login\..*/, "login.*")),
    "unattended",
    "approval_timeout_sec",
    "on_restart",
  ])("people find %s in the help and in the README", (path) => {
    assert.include(help, `\n  ${path} `)
    assert.include(readme, `\`${path}\``)
  })

  it("the keys of the server are read beside those of the conversations", () => {
    const tree = ConfigTree.fromRecord({
      model: "m",
      offline: { script: "s.json", delta_delay_ms: 5 },
      shutdown_grace_ms: 0,
    })
    assert.deepStrictEqual(
      serverOptions(tree),
      Result.succeed({ offline: { script: "s.json", delta_delay_ms: 5 }, shutdown_grace_ms: 0 }),
    )
  })

  it.each(["on", "always", "off", "twice"] as const)("events may be %s", (mcp_events) => {
    const tree = ConfigTree.fromRecord({ mcp_events })
    assert.deepStrictEqual(serverOptions(tree), Result.succeed({ mcp_events }))
  })

  it("an unknown way to send events is told with the known ones", () => {
    assert.deepStrictEqual(
      serverOptions(ConfigTree.fromRecord({ mcp_events: "none" })),
      Result.fail(
        new ConfigFault({
          message:
            "unknown variant `none`, expected one of `on`, `always`, `off`, `twice`, did you mean `on`?\nin `mcp_events`\n",
          key: "mcp_events",
        }),
      ),
    )
  })

  it.each([
    [1023, false],
    [1024, true],
    [536_870_888, true],
    [536_870_889, false],
  ])("a longest line of %i bytes can be set: %s", (max_line_bytes, can) => {
    const read = serverOptions(ConfigTree.fromRecord({ max_line_bytes }))
    assert.strictEqual(Result.isSuccess(read), can)
  })

  it("a bad value is told with its key", () => {
    assert.deepStrictEqual(
      serverOptions(ConfigTree.fromRecord({ offline: { delta_delay_ms: -1 } })),
      Result.fail(
        new ConfigFault({
          message:
            "invalid value: integer `-1`, expected a non-negative integer\nin `offline.delta_delay_ms`\n",
          key: "offline.delta_delay_ms",
        }),
      ),
    )
  })
})
