import { keysOf } from "@colloquy/config/ConfigKeys"
import { ConfigFault } from "@colloquy/config/ConfigFault"
import * as ConfigTree from "@colloquy/config/ConfigTree"
import { serverTools } from "@colloquy/protocol/mcp/ServerTools"
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { readFileSync } from "node:fs"
import { commandHelp } from "../../src/commands/CommandHelp.ts"
import { ServerOptions, serverOptions } from "../../src/args/ServerOptions.ts"

const toolNames = serverTools.map(({ name }) => `\`${name}\``).join(", ")

const page = readFileSync(new URL("../../../docs/configuration.md", import.meta.url), "utf8")

describe("ServerOptions", () => {
  it.each([
    ...keysOf(ServerOptions).map(({ path }) => path.replace(/^login\..*/, "login.*")),
    "unattended",
    "approval_timeout_sec",
    "on_restart",
  ])("%s is in the help and on the page on configuration", (path) => {
    assert.include(commandHelp("config") ?? "", `\n  ${path} `)
    assert.include(page, `\`${path}\``)
  })

  it("the keys of the server are read together with those of the conversations", () => {
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

  it("the error for an unknown value of mcp_events lists the known ones", () => {
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

  it.each(["default", "all", [], ["codex"], ["codex-reply", "conversationWait"]] as const)(
    "the listed tools may be %j",
    (mcp_tools) => {
      const tree = ConfigTree.fromRecord({ mcp_tools })
      assert.deepStrictEqual(serverOptions(tree), Result.succeed({ mcp_tools }))
    },
  )

  it.each<readonly [value: unknown, key: string, problem: string]>([
    ["codex", "mcp_tools", "unknown variant `codex`, expected one of `default`, `all`, a sequence"],
    [7, "mcp_tools", "invalid type: integer `7`, expected one of `default`, `all`, a sequence"],
    [{}, "mcp_tools", "invalid type: map, expected one of `default`, `all`, a sequence"],
    [
      ["codex", "conversationStats"],
      "mcp_tools.1",
      `unknown variant \`conversationStats\`, expected one of ${toolNames}, did you mean \`conversationStatus\`?`,
    ],
    [[7], "mcp_tools.0", `invalid type: integer \`7\`, expected one of ${toolNames}`],
  ])(
    "L13 %j is not a choice of tools: the error names the key and what is expected",
    (value, key, problem) => {
      assert.deepStrictEqual(
        serverOptions(ConfigTree.fromRecord({ mcp_tools: value })),
        Result.fail(new ConfigFault({ message: `${problem}\nin \`${key}\`\n`, key })),
      )
    },
  )

  it("L13 an unknown place of the thread id is an error that names the known ones", () => {
    for (const mcp_thread_id of ["content", "structured"] as const) {
      const tree = ConfigTree.fromRecord({ mcp_thread_id })
      assert.deepStrictEqual(serverOptions(tree), Result.succeed({ mcp_thread_id }))
    }
    assert.deepStrictEqual(
      serverOptions(ConfigTree.fromRecord({ mcp_thread_id: "text" })),
      Result.fail(
        new ConfigFault({
          message:
            "unknown variant `text`, expected one of `content`, `structured`\nin `mcp_thread_id`\n",
          key: "mcp_thread_id",
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

  it("the error for an invalid value names its key", () => {
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
