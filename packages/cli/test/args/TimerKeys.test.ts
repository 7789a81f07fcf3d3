/** The keys that set timers of the machine, for which a time of more than 24 days would be none. */
import type { ConfigFault } from "@colloquy/config/ConfigFault"
import * as ConfigTree from "@colloquy/config/ConfigTree"
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { clusterOptions } from "../../src/args/ClusterOptions.ts"
import { httpOptions } from "../../src/args/HttpOptions.ts"
import { serverOptions } from "../../src/args/ServerOptions.ts"

type Read = (tree: ConfigTree.ConfigTree) => Result.Result<unknown, ConfigFault>

const keys: ReadonlyArray<readonly [path: string, least: number, read: Read]> = [
  ["cluster.drain_ms", 0, clusterOptions],
  ["shutdown_grace_ms", 0, serverOptions],
  ["http.header_timeout_ms", 1, httpOptions],
  ["http.request_timeout_ms", 0, httpOptions],
]

const treeWith = (path: string, value: number) =>
  ConfigTree.set(ConfigTree.fromRecord({ cluster: { database: "postgres://u@h/d" } }), path, value)

describe("times in milliseconds that set a timer", () => {
  it.each(keys)("`%s` is at least %i and at most 24 hours", (path, least, read) => {
    for (const value of [least, 86_400_000]) {
      assert.isTrue(Result.isSuccess(read(treeWith(path, value))), `${value}`)
    }
    for (const value of [86_400_001, 2_147_483_648, least - 1]) {
      const fault = Result.getOrThrow(Result.flip(read(treeWith(path, value))))
      assert.strictEqual(fault.key, path)
      assert.strictEqual(
        fault.message,
        `invalid value: integer \`${value}\`, expected an integer from ${least} to 86400000 (24 hours)\nin \`${path}\`\n`,
      )
    }
  })
})
