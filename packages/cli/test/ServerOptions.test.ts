import * as ConfigTree from "@colloquy/core/settings/ConfigTree"
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { misspelt, serverOptions } from "../src/ServerOptions.ts"

describe("ServerOptions", () => {
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

  it.each(["on", "off", "twice"] as const)("events may be %s", (mcp_events) => {
    const tree = ConfigTree.fromRecord({ mcp_events })
    assert.deepStrictEqual(serverOptions(tree), Result.succeed({ mcp_events }))
  })

  it("an unknown way to send events is told with the known ones", () => {
    assert.deepStrictEqual(
      serverOptions(ConfigTree.fromRecord({ mcp_events: "none" })),
      Result.fail(
        "unknown variant `none`, expected one of `on`, `off`, `twice`, did you mean `on`?\nin `mcp_events`\n",
      ),
    )
    assert.deepStrictEqual(misspelt("mcp_event=off"), { key: "mcp_event", near: "mcp_events" })
  })

  it("a bad value is told with its key", () => {
    assert.deepStrictEqual(
      serverOptions(ConfigTree.fromRecord({ offline: { delta_delay_ms: -1 } })),
      Result.fail(
        "invalid value: integer `-1`, expected a non-negative integer\nin `offline.delta_delay_ms`\n",
      ),
    )
  })

  it("a misspelt key is told apart from one of ours, one of the original's and a strange one", () => {
    const near = { key: "approval-policy", near: "approval_policy" }
    assert.deepStrictEqual(misspelt("approval-policy=never"), near)
    assert.deepStrictEqual(misspelt("modle_providers.x.name=1"), {
      key: "modle_providers",
      near: "model_providers",
    })
    for (const argument of [
      "model=x",
      "profiles.p.model=x",
      "hide_agent_reasoning=true",
      "zzz=1",
    ]) {
      assert.isUndefined(misspelt(argument), argument)
    }
  })
})
