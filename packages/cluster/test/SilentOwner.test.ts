/** Calls to the owner of a conversation that does not respond, while the cluster still takes it for the owner. */
import { ConversationId } from "@colloquy/protocol/Ids"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as MessageStorage from "effect/cluster/MessageStorage"
import * as Reply from "effect/cluster/Reply"
import { Runner } from "effect/cluster/Runner"
import * as RunnerAddress from "effect/cluster/RunnerAddress"
import * as RunnerHealth from "effect/cluster/RunnerHealth"
import * as Runners from "effect/cluster/Runners"
import * as RunnerStorage from "effect/cluster/RunnerStorage"
import * as Sharding from "effect/cluster/Sharding"
import * as ShardingConfig from "effect/cluster/ShardingConfig"
import * as Snowflake from "effect/cluster/Snowflake"
import * as RpcClientError from "effect/rpc/RpcClientError"
import * as TestClock from "effect/testing/TestClock"
import * as EntityNodes from "../src/EntityNodes.ts"
import { type CallsAt, DirectCalls } from "../src/internal/DirectCalls.ts"
import * as Membership from "../src/internal/Membership.ts"
import { NodeUnreachable } from "../src/NodeErrors.ts"
import { Nodes } from "../src/Nodes.ts"

const id = ConversationId.make("00000000-0000-7000-8000-000000000001")

const stopped = RunnerAddress.make("stopped", 1)
const next = RunnerAddress.make("next", 1)

const unavailable = new RpcClientError.RpcClientError({
  reason: new RpcClientError.RpcClientDefect({ message: "silent", cause: undefined }),
})

/** The operations of a node, of which `Load` and `Attach` are called. */
const callsAt = (
  Load: CallsAt<RpcClientError.RpcClientError>["Load"],
  Attach: CallsAt<RpcClientError.RpcClientError>["Attach"],
): CallsAt<RpcClientError.RpcClientError> => {
  const other = () => Effect.die("not called")
  return {
    Load,
    Attach,
    Submit: other,
    RunTurn: other,
    Cancel: other,
    ReadState: other,
    Metadata: other,
    History: () => Stream.die("not called"),
    Fork: other,
    Remove: other,
    Archive: other,
    Unarchive: other,
  }
}

/** A cluster of two other nodes, one of which is stopped and has everything until it is taken for lost. */
const cluster = () => {
  let owner = stopped
  let isStopped = true
  const sent: Array<string> = []
  const disconnected: Array<RunnerAddress.RunnerAddress> = []
  const runners = Layer.effect(
    Runners.Runners,
    Effect.gen(function* () {
      const snowflakes = yield* Snowflake.Generator
      const noop = yield* Runners.makeNoop
      const send: Runners.Runners["Service"]["send"] = ({ address, message }) => {
        const operation =
          message._tag === "OutgoingRequest" ? message.envelope.tag : message.envelope._tag
        sent.push(`${operation} ${address.host}`)
        if (address === stopped && isStopped) return Effect.uninterruptible(Effect.never)
        if (message._tag !== "OutgoingRequest") return Effect.void
        return message.respond(
          new Reply.WithExit({
            id: snowflakes.nextUnsafe(),
            requestId: message.envelope.requestId,
            exit: Exit.succeed(address as never),
          }),
        )
      }
      return { ...noop, send }
    }),
  ).pipe(Layer.provide(Snowflake.layerGenerator))
  const storage = Layer.effect(
    RunnerStorage.RunnerStorage,
    Effect.map(RunnerStorage.makeMemory, (memory) => ({
      ...memory,
      getRunners: Effect.sync(() => [
        [new Runner({ address: owner, groups: ["default"], weight: 1 }), true] as const,
      ]),
    })),
  )
  const connected = Layer.succeed(DirectCalls, {
    serve: () => {},
    at: (address) =>
      Effect.succeed(
        address === stopped
          ? callsAt(
              () => Effect.fail(unavailable),
              () => Stream.fail(unavailable),
            )
          : callsAt(
              () => Effect.void,
              () => Stream.empty,
            ),
      ),
    disconnect: (address) => Effect.sync(() => void disconnected.push(address)),
  })
  const sharding = Sharding.layer.pipe(
    Layer.provideMerge(runners),
    Layer.provide([storage, RunnerHealth.layerNoop, MessageStorage.layerMemory]),
    Layer.provide(ShardingConfig.layer({ runnerAddress: Option.none() })),
  )
  return {
    layer: EntityNodes.layer("a", Layer.merge(Membership.of(sharding), connected)),
    sent,
    disconnected,
    stop: () => void (isStopped = true),
    continue: () => void (isStopped = false),
    move: () => void (owner = next),
  }
}

/** Asserts that the call fails within a second. */
const givenUp = Effect.fnUntraced(function* <A, E>(call: Effect.Effect<A, E>) {
  const calling = yield* Effect.forkChild(Effect.flip(call))
  yield* TestClock.adjust("1 second")
  assert.instanceOf(yield* Fiber.join(calling), NodeUnreachable)
})

describe("an owner that does not respond", () => {
  it.effect("L4 is given up within a second, and the call is made where the shard is then", () => {
    const { disconnected, layer, move, sent } = cluster()
    return Effect.gen(function* () {
      const { Attach, Load, SubmitStored } = (yield* Nodes).calls(id)
      yield* TestClock.adjust("1 second")
      yield* givenUp(Load({ id }))
      yield* givenUp(Stream.runDrain(Attach({ id })))
      yield* givenUp(SubmitStored({ id, key: "k", op: { type: "interrupt" } }))
      assert.notInclude(sent, "SubmitStored stopped")
      move()
      yield* TestClock.adjust("5 seconds")
      yield* Load({ id })
      yield* Stream.runDrain(Attach({ id }))
      assert.deepStrictEqual(disconnected, [])
    }).pipe(Effect.provide(layer))
  })

  it.effect("L4 is not waited for by a caller that gives up", () => {
    const { layer } = cluster()
    return Effect.gen(function* () {
      const { Load } = (yield* Nodes).calls(id)
      yield* TestClock.adjust("1 second")
      const calling = yield* Effect.forkChild(Load({ id }), { startImmediately: true })
      yield* Effect.yieldNow
      yield* Fiber.interrupt(calling)
    }).pipe(Effect.provide(layer))
  })

  it.effect("L4 is forgotten where a call at its address fails", () => {
    const nodes = cluster()
    return Effect.gen(function* () {
      const { Attach, Load } = (yield* Nodes).calls(id)
      yield* TestClock.adjust("1 second")
      for (const call of [Load({ id }), Stream.runDrain(Attach({ id }))]) {
        nodes.continue()
        assert.instanceOf(yield* Effect.flip(call), NodeUnreachable)
        nodes.stop()
        yield* givenUp(call)
      }
      assert.deepStrictEqual(nodes.disconnected, [stopped, stopped])
      nodes.move()
      yield* TestClock.adjust("5 seconds")
      yield* Load({ id })
    }).pipe(Effect.provide(nodes.layer))
  })
})

describe("the owner of two conversations", () => {
  it.effect("is the same once both were called, and for those of one shard before", () => {
    const nodes = cluster()
    nodes.move()
    nodes.continue()
    return Effect.gen(function* () {
      const { calls, sameOwner } = yield* Nodes
      const other = ConversationId.make("00000000-0000-7000-8000-000000000002")
      yield* TestClock.adjust("1 second")
      assert.isTrue(sameOwner(id, id))
      assert.isFalse(sameOwner(id, other))
      yield* calls(id).Load({ id })
      assert.isFalse(sameOwner(id, other))
      yield* calls(other).Load({ id: other })
      assert.isTrue(sameOwner(id, other))
    }).pipe(Effect.provide(nodes.layer))
  })
})
