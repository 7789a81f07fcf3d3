/** In which order a node that leaves gives up its shards. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as MachineId from "effect/cluster/MachineId"
import { Runner } from "effect/cluster/Runner"
import * as RunnerAddress from "effect/cluster/RunnerAddress"
import { RunnerStorage } from "effect/cluster/RunnerStorage"
import * as ShardId from "effect/cluster/ShardId"
import * as TestClock from "effect/testing/TestClock"
import * as LeavingRunner from "../src/node/LeavingRunner.ts"

const address = RunnerAddress.make("127.0.0.1", 1)
const runner = new Runner({ address, groups: ["default"], weight: 1 })
const shard = ShardId.make("default", 1)

/** Notes what the runner asks of its storage. */
const noting = (unregistering: Effect.Effect<void> = Effect.void) => {
  const asked: Array<string> = []
  const note = (what: string) => Effect.sync(() => void asked.push(what))
  const storage: RunnerStorage["Service"] = {
    register: () => Effect.as(note("register"), MachineId.make(1)),
    unregister: () => Effect.andThen(note("unregister"), unregistering),
    getRunners: Effect.succeed([]),
    setRunnerHealth: () => Effect.void,
    acquire: () => Effect.succeed([]),
    refresh: () => Effect.succeed([]),
    release: () => note("release"),
    releaseAll: () => note("releaseAll"),
  }
  const layer = Layer.provide(LeavingRunner.layer, Layer.succeed(RunnerStorage, storage))
  return { asked, layer }
}

describe("the storage of a runner that leaves", () => {
  it.effect("releases its shards together, and before the others can see that it has left", () => {
    const { asked, layer } = noting()
    return Effect.gen(function* () {
      const storage = yield* RunnerStorage
      yield* storage.register(runner, true)
      yield* storage.release(address, shard)
      yield* storage.unregister(address)
      yield* storage.release(address, shard)
      assert.deepStrictEqual(asked, ["register", "release", "releaseAll", "unregister"])
      yield* storage.register(runner, true)
      yield* storage.release(address, shard)
      assert.deepStrictEqual(asked.slice(4), ["register", "release"])
    }).pipe(Effect.provide(layer))
  })

  it.effect("waits for a second where the database does not respond to it", () => {
    const { asked, layer } = noting(Effect.uninterruptible(Effect.never))
    return Effect.gen(function* () {
      const storage = yield* RunnerStorage
      const leaving = yield* Effect.forkDetach(storage.unregister(address))
      yield* TestClock.adjust("1 second")
      assert.isDefined(leaving.pollUnsafe())
      assert.deepStrictEqual(asked, ["releaseAll", "unregister"])
    }).pipe(Effect.provide(layer))
  })
})
