import { assert, describe, it } from "@effect/vitest"
import { hostname } from "node:os"
import { addressesOf } from "../../src/cluster/ClusterPlace.ts"
import { listenWarning } from "../../src/cluster/ConfiguredCluster.ts"
import { storeProblem } from "../../src/cluster/ServedCluster.ts"

const database = "postgres://user@host/database"

describe("the cluster of a configuration", () => {
  it("a node listens on the loopback interface, and is reached where it listens", () => {
    const any = { host: "127.0.0.1", port: 0 }
    assert.deepStrictEqual(addressesOf({ database }), { listen: any, reached: any })
    assert.deepStrictEqual(addressesOf({ database, address: "[fd00::1]:7" }), {
      listen: any,
      reached: { host: "fd00::1", port: 7 },
    })
  })

  it("a node that listens on every interface is reached by the name of its machine", () => {
    assert.deepStrictEqual(addressesOf({ database, listen: "0.0.0.0:8748" }), {
      listen: { host: "0.0.0.0", port: 8748 },
      reached: { host: hostname(), port: 8748 },
    })
  })

  it("only an address beyond the loopback interface is warned of", () => {
    assert.isUndefined(listenWarning({ database }))
    assert.isUndefined(listenWarning({ database, listen: "127.0.0.1:8748" }))
    assert.include(listenWarning({ database, listen: "0.0.0.0:8748" }), "`cluster.listen`")
  })

  it("conversations are in the database of the cluster", () => {
    assert.isUndefined(storeProblem({ database }, {}))
    assert.isUndefined(storeProblem({ database }, { conversation_store: database }))
    assert.include(storeProblem({ database }, { conversation_store: "files" }), "cluster.database")
  })
})
