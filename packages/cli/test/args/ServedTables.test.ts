import * as ConfigTree from "@colloquy/config/ConfigTree"
import { assert, describe, it } from "@effect/vitest"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { clusterOptions } from "../../src/args/ClusterOptions.ts"
import { checkedTables } from "../../src/args/ServedTables.ts"

const treeOf = (...args: ReadonlyArray<string>) =>
  ConfigTree.applyOverrides(ConfigTree.empty, Result.getOrThrow(ConfigTree.parseOverrides(args)))

const faultOf = (...args: ReadonlyArray<string>) => {
  const checked = checkedTables(treeOf(...args))
  return Result.isFailure(checked) ? checked.failure : undefined
}

describe("the tables that only a server that listens reads", () => {
  it.each([
    ["cluster=1", "cluster"],
    ["http=1", "http"],
    ["cluster.drain_ms=x", "cluster.drain_ms"],
    ["cluster.drain=1", "cluster.drain"],
    ["http.hosts=x", "http.hosts"],
  ])("have a fault in %s", (arg, key) => {
    assert.strictEqual(faultOf(arg)?.key, key)
  })

  it("may have unknown keys, and keys that have no effect without others", () => {
    const args = ["cluster.port=1", "http.zzz=1", "cluster.drain_ms=1", "http.oauth_issuer=x"]
    for (const arg of args) assert.isUndefined(faultOf(arg), arg)
  })

  it("of a cluster names its database where a server listens, which would be alone without it", () => {
    const fault = Result.getFailure(clusterOptions(treeOf("cluster.url=postgres://host/name")))
    assert.deepInclude(Option.getOrUndefined(fault), { key: "cluster" })
  })
})
