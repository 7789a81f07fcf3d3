/**
 * Releases the shards of a node that leaves before the other nodes find out that it has left: they take all of them at their
 * first attempt. Shards that are released one after the other behind that are taken a second later, when the others try again.
 *
 * A shard says only where a conversation is asked for. Who may append to its log is decided by its lease in the store (L16).
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { RunnerStorage } from "effect/cluster/RunnerStorage"
import { bounded } from "../BoundedEnd.ts"

/** The others find out otherwise that the node has ended, where the database does not respond to it. */
const unregistering = { name: "the registration of this node", within: "1 second" } as const

const leaving = (storage: RunnerStorage["Service"]): RunnerStorage["Service"] => {
  let hasLeft = false
  return {
    ...storage,
    register: (...runner) =>
      Effect.suspend(() => {
        hasLeft = false
        return storage.register(...runner)
      }),
    unregister: (address) =>
      Effect.suspend(() => {
        hasLeft = true
        // Those that cannot be released end with the connection.
        return Effect.andThen(
          Effect.catch(storage.releaseAll(address), (error) =>
            Effect.logWarning("the shards of this node were not released", error),
          ),
          bounded(
            Effect.catch(storage.unregister(address), (error) =>
              Effect.logWarning("the registration of this node was not removed", error),
            ),
            unregistering,
          ),
        )
      }),
    release: (...shard) =>
      Effect.suspend(() => (hasLeft ? Effect.void : storage.release(...shard))),
  }
}

/** The storage whose runner leaves so. */
export const layer: Layer.Layer<RunnerStorage, never, RunnerStorage> = Layer.effect(
  RunnerStorage,
  Effect.map(RunnerStorage, leaving),
)
