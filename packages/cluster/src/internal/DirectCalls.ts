/**
 * The operations as calls from one address to another: RPCs of their own on the port of each node, beside those of Effect
 * Cluster. A call is encoded once and decoded once; through the entity it would be both twice, and each part of a stream would
 * take three messages more.
 *
 * Whether the node at the address has the conversation is not known here: it responds with `Elsewhere` where it has not.
 */
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as RcMap from "effect/RcMap"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { RunnerAddress } from "effect/cluster/RunnerAddress"
import { RpcClientProtocol } from "effect/cluster/Runners"
import type * as Rpc from "effect/rpc/Rpc"
import * as RpcClient from "effect/rpc/RpcClient"
import type { RpcClientError } from "effect/rpc/RpcClientError"
import type * as RpcGroup from "effect/rpc/RpcGroup"
import { ConversationRpcs } from "../ConversationOperations.ts"
import { Elsewhere } from "../NodeErrors.ts"
import type { ConversationCalls } from "../Nodes.ts"

/** The operations that are called at an address. */
export type CallsAt<E = never> = Omit<ConversationCalls<E>, "SubmitStored">

/** The direct calls of a node. */
export class DirectCalls extends Context.Service<
  DirectCalls,
  {
    /** Carries out what other nodes call here for conversations that this node owns. Called once. */
    readonly serve: (calls: CallsAt, owns: (id: ConversationId) => boolean) => void
    /** The operations of the node at this address, by a connection that the scope keeps. */
    readonly at: (
      address: RunnerAddress,
    ) => Effect.Effect<CallsAt<RpcClientError>, never, Scope.Scope>
    /** Ends the connection to a node that does not respond. */
    readonly disconnect: (address: RunnerAddress) => Effect.Effect<void>
  }
>()("@colloquy/cluster/DirectCalls") {}

/** What the handlers carry out; nothing before the operations of this node are known. */
class Served {
  private calls: CallsAt | undefined
  private owns: (id: ConversationId) => boolean = () => false

  set(calls: CallsAt, owns: (id: ConversationId) => boolean): void {
    this.calls = calls
    this.owns = owns
  }

  of<A, E>(
    id: ConversationId,
    use: (calls: CallsAt) => Effect.Effect<A, E>,
  ): Effect.Effect<A, E | Elsewhere> {
    const { calls, owns } = this
    return calls === undefined || !owns(id) ? Effect.fail(new Elsewhere({ id })) : use(calls)
  }
}

const handlersOf = (served: Served) =>
  ConversationRpcs.of({
    Load: (payload) => served.of(payload.id, (calls) => calls.Load(payload)),
    Submit: (payload) => served.of(payload.id, (calls) => calls.Submit(payload)),
    RunTurn: (payload) => served.of(payload.id, (calls) => calls.RunTurn(payload)),
    Cancel: (payload) => served.of(payload.id, (calls) => calls.Cancel(payload)),
    Attach: (payload) =>
      Stream.unwrap(served.of(payload.id, (calls) => Effect.succeed(calls.Attach(payload)))),
    ReadState: (payload) => served.of(payload.id, (calls) => calls.ReadState(payload)),
    Metadata: (payload) => served.of(payload.id, (calls) => calls.Metadata(payload)),
    History: (payload) =>
      Stream.unwrap(served.of(payload.id, (calls) => Effect.succeed(calls.History(payload)))),
    Fork: (payload) => served.of(payload.id, (calls) => calls.Fork(payload)),
    Remove: (payload) => served.of(payload.id, (calls) => calls.Remove(payload)),
    Archive: (payload) => served.of(payload.id, (calls) => calls.Archive(payload)),
    Unarchive: (payload) => served.of(payload.id, (calls) => calls.Unarchive(payload)),
  })

/** Items of a stream that wait here for a reader that is slow: the others wait at the owner, where all listeners share them. */
const streamBufferSize = 1

/** The calls by a connection. */
const callsBy = (connection: RpcClient.Protocol["Service"]) =>
  RpcClient.make(ConversationRpcs, { disableTracing: true }).pipe(
    Effect.provideService(RpcClient.Protocol, connection),
    Effect.map((client): CallsAt<RpcClientError> => ({
      ...client,
      Attach: (payload) => client.Attach(payload, { streamBufferSize }),
    })),
  )

const make = Effect.fnUntraced(function* (served: Served) {
  const protocol = yield* RpcClientProtocol
  const clients = yield* RcMap.make({
    lookup: (address: RunnerAddress) => Effect.flatMap(protocol.make(address), callsBy),
    idleTimeToLive: "3 minutes",
  })
  return {
    serve: (calls, owns) => served.set(calls, owns),
    at: (address) => RcMap.get(clients, address),
    disconnect: (address) => RcMap.invalidate(clients, address),
  } satisfies DirectCalls["Service"]
})

/** Layer of the direct calls of a node, and of the handlers which its port serves. */
export const layer: Layer.Layer<
  DirectCalls | Rpc.ToHandler<RpcGroup.Rpcs<typeof ConversationRpcs>>,
  never,
  RpcClientProtocol
> = Layer.suspend(() => {
  const served = new Served()
  return Layer.merge(
    Layer.effect(DirectCalls, make(served)),
    ConversationRpcs.toLayer(handlersOf(served)),
  )
})
