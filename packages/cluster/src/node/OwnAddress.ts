/**
 * Finds out whether a node is reached at its own address. Each node has a random number, which it states to whoever asks at its
 * port: where the address leads to another node, everything that the cluster sends to this one would arrive there.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Schema from "effect/Schema"
import { RpcClientProtocol } from "effect/cluster/Runners"
import type { RunnerAddress } from "effect/cluster/RunnerAddress"
import { ShardingConfig } from "effect/cluster/ShardingConfig"
import * as Rpc from "effect/rpc/Rpc"
import * as RpcClient from "effect/rpc/RpcClient"
import * as RpcGroup from "effect/rpc/RpcGroup"
import { NodeAddressTaken } from "./NodeRows.ts"

/** What a node says of itself. */
export const NodeRpcs = RpcGroup.make(Rpc.make("Identify", { success: Schema.Int }))

/** Longest wait for a response at the own address. A busy machine takes a while; a port that is closed responds at once. */
const patience = Duration.seconds(5)

/** A number that no other process has chosen. */
export const newNumber: Effect.Effect<number> = Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER)

/** Handlers of the node that has this number. */
export const handlers = (own: number) => NodeRpcs.toLayer({ Identify: () => Effect.succeed(own) })

/** The number of the node that responds at an address. */
const numberAt = Effect.fnUntraced(function* (address: RunnerAddress) {
  const protocol = yield* RpcClientProtocol
  const client = yield* Effect.provideService(
    RpcClient.make(NodeRpcs, { disableTracing: true }),
    RpcClient.Protocol,
    yield* protocol.make(address),
  )
  return yield* client.Identify()
}, Effect.scoped)

/**
 * Fails where another node responds at the address. Logs a warning where no node does: one that the others cannot reach owns
 * nothing, which it does not learn from them.
 */
export const check = <E, R>(
  own: number,
  { host, port }: Pick<RunnerAddress, "host" | "port">,
  asking: Effect.Effect<number, E, R>,
): Effect.Effect<void, NodeAddressTaken, R> =>
  asking.pipe(
    Effect.timeout(patience),
    Effect.matchCauseEffect({
      onFailure: (cause) =>
        Effect.logWarning(
          `this node does not reach itself at ${host}:${port}: if the others do not either, it gets no conversations`,
          cause,
        ),
      onSuccess: (found) =>
        found === own
          ? Effect.void
          : Effect.fail(new NodeAddressTaken({ address: `${host}:${port}` })),
    }),
  )

/** Layer that fails where the node with this number is not the one at its address. */
export const layer = (
  own: number,
): Layer.Layer<never, NodeAddressTaken, RpcClientProtocol | ShardingConfig> =>
  Layer.effectDiscard(
    Effect.flatMap(ShardingConfig, ({ runnerAddress }) =>
      Option.match(runnerAddress, {
        onNone: () => Effect.void,
        onSome: (address) => check(own, address, numberAt(address)),
      }),
    ),
  )
