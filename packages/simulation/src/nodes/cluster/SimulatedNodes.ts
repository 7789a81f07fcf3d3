/**
 * The port `Nodes` of one simulated process. Each call passes through the schemas of its operation as JSON text, to a process
 * that this one believes to own the conversation.
 */
import { operations } from "@colloquy/cluster/ConversationOperations"
import { NodeUnreachable } from "@colloquy/cluster/NodeErrors"
import { type ConversationCalls, Nodes } from "@colloquy/cluster/Nodes"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as RpcSchema from "effect/rpc/RpcSchema"
import type { Database } from "../Database.ts"
import type { Link } from "../Link.ts"
import { exchange } from "./Exchange.ts"
import { type Membership, memberForMs, ownerIn, type View } from "./Membership.ts"
import { heartbeatMs, type Network, type Peer } from "./Network.ts"

/** Longest wait for the response to a call that is no stream or turn; the same as that of the nodes of Effect Cluster. */
const callTimeout = Duration.seconds(15)

/** How often a node renews its membership and reads the members. */
const refreshEvery = Duration.seconds(1)

type Operation = (typeof operations)[number]

/** A schema that needs no services, as all operations have. */
type PlainSchema = Schema.Codec<unknown, unknown>

/** The value as another process gets it. */
const copy = (schema: Schema.Top, value: unknown): unknown => {
  // The definitions of operations use no services.
  const codec = Schema.fromJsonString(Schema.toCodecJson(schema as PlainSchema))
  return Schema.decodeUnknownSync(codec)(Schema.encodeUnknownSync(codec)(value))
}

/** The handler of an operation. */
type AnyCall = (
  payload: unknown,
) => Effect.Effect<unknown, unknown> | Stream.Stream<unknown, unknown>

/** A stream that another process has open for this one. */
interface Opened {
  readonly to: Peer
  readonly next: Effect.Effect<Arr.NonEmptyReadonlyArray<unknown>, unknown>
  readonly scope: Scope.Closeable
}

/** What the port of one process is made of. */
export interface NodeParts {
  readonly peer: Peer
  readonly network: Network
  readonly membership: Membership
  readonly link: Link
  readonly database: Database
}

class SimulatedNodes {
  private readonly parts: NodeParts
  private view: View = { members: [], round: 0 }
  private seenMs = 0
  private hasLeft = false

  constructor(parts: NodeParts) {
    this.parts = parts
    parts.peer.owns = (id) => this.owns(id)
  }

  get service(): Nodes["Service"] {
    return {
      self: this.parts.peer.node,
      owns: (id) => this.owns(id),
      sameOwner: (id, other) => ownerIn(this.view, id) === ownerIn(this.view, other),
      calls: (id) => this.calls(id),
      serve: (calls) =>
        Effect.gen({ self: this }, function* () {
          const { peer } = this.parts
          yield* Effect.acquireRelease(
            Effect.sync(() => void (peer.calls = calls)),
            () => this.leave,
          )
          yield* this.refresh
          const refreshing = Effect.andThen(Effect.sleep(refreshEvery), this.refresh)
          yield* Effect.forkScoped(Effect.forever(refreshing))
        }),
      leave: this.leave,
    }
  }

  private owns(id: ConversationId): boolean {
    return !this.hasLeft && ownerIn(this.view, id) === this.parts.peer.node
  }

  private get leave(): Effect.Effect<void> {
    return Effect.sync(() => {
      if (this.hasLeft) return
      this.hasLeft = true
      const { membership, network, peer } = this.parts
      membership.remove(peer.node)
      network.left(peer)
    })
  }

  /** A node that cannot read the members keeps what it has read last for as long as it is one itself. */
  private get refresh(): Effect.Effect<void> {
    const { database, link, membership, peer } = this.parts
    return Effect.gen({ self: this }, function* () {
      if (link.delayMs > 0) yield* Effect.sleep(Duration.millis(2 * link.delayMs))
      const nowMs = yield* Clock.currentTimeMillis
      if (this.hasLeft) return
      if (link.cut === undefined && database.accepts) {
        this.view = membership.renew(peer.node)
        this.seenMs = nowMs
      } else if (nowMs - this.seenMs > memberForMs) this.view = { members: [], round: 0 }
    })
  }

  private calls(id: ConversationId): ConversationCalls<NodeUnreachable> {
    const all = operations.map((operation) => [
      operation._tag,
      (payload: unknown) =>
        RpcSchema.isStreamSchema(operation.successSchema)
          ? this.stream(id, operation, payload)
          : this.call(id, operation, payload),
    ])
    // One member per operation, each of the type that its definition gives.
    return Object.fromEntries(all) as ConversationCalls<NodeUnreachable>
  }

  /** What the owner of the conversation carries out: the handler with the payload as it gets it. */
  private request(id: ConversationId, { _tag, payloadSchema }: Operation, payload: unknown) {
    const { network, peer } = this.parts
    const owner = this.hasLeft ? undefined : ownerIn(this.view, id)
    const fault = network.nextFault(peer.node)
    const sent = copy(payloadSchema, (payloadSchema as PlainSchema).make(payload))
    return {
      id,
      from: peer,
      to: owner === undefined ? undefined : network.at(owner),
      // Only what waits in the database is read again: by the next node, while one that has read it is stopped.
      fault: fault?.how === "twice" && _tag !== "SubmitStored" ? undefined : fault,
      handler: (to: Peer) =>
        to.owns(id)
          ? (to.calls as Readonly<Record<string, AnyCall>> | undefined)?.[_tag]?.(sent)
          : undefined,
    }
  }

  private call(
    id: ConversationId,
    operation: Operation,
    payload: unknown,
  ): Effect.Effect<unknown, unknown> {
    const { errorSchema, successSchema } = operation
    // A turn goes on for as long as its node is reachable.
    const isTurn = operation._tag === "RunTurn"
    const responding = Effect.suspend(() => {
      const { handler, ...request } = this.request(id, operation, payload)
      const use = (to: Peer) => handler(to) as Effect.Effect<unknown, unknown> | undefined
      const { network } = this.parts
      return exchange(network, { ...request, use, isResent: isTurn && network.resends })
    })
    const inTime = Effect.timeoutOrElse(responding, {
      duration: callTimeout,
      orElse: () => Effect.fail(new NodeUnreachable({ id, reason: "no response in time" })),
    })
    return (isTurn ? responding : inTime).pipe(
      Effect.flatMap((exit) =>
        Exit.isSuccess(exit)
          ? Effect.succeed(copy(successSchema, exit.value))
          : failed(id, errorSchema, exit.cause),
      ),
    )
  }

  private stream(
    id: ConversationId,
    operation: Operation,
    payload: unknown,
  ): Stream.Stream<unknown, unknown> {
    const schema = operation.successSchema as unknown as {
      readonly success: Schema.Top
      readonly error: Schema.Top
    }
    return Stream.unwrap(
      Effect.gen({ self: this }, function* () {
        const opened = yield* this.open(id, operation, payload)
        const { next, to } = opened
        const { network, peer } = this.parts
        const request = {
          id,
          from: peer,
          to,
          fault: undefined,
          use: () => next,
          isResent: network.resends,
        }
        const pulled = Effect.flatMap(exchange(network, request), (exit) =>
          Exit.isSuccess(exit)
            ? Effect.succeed(Arr.map(exit.value, (item) => copy(schema.success, item)))
            : failed(id, schema.error, exit.cause),
        )
        return Stream.fromPull(Effect.succeed(pulled))
      }),
    )
  }

  /** Opens a stream until the scope closes, or this process ends. */
  private open(id: ConversationId, operation: Operation, payload: unknown) {
    const { network, peer } = this.parts
    return Effect.gen({ self: this }, function* () {
      const { handler, ...request } = this.request(id, operation, payload)
      let opened: Opened | undefined
      let isClosed = false
      const use = (to: Peer) => {
        const items = handler(to) as Stream.Stream<unknown, unknown> | undefined
        if (items === undefined) return undefined
        const scope = Scope.makeUnsafe()
        return Effect.map(Scope.provide(Stream.toPull(items), scope), (next) => {
          opened = { to, next, scope }
          // A request that arrives after its caller has given up.
          if (isClosed) close()
          return opened
        })
      }
      const close = () => {
        isClosed = true
        const { scope, to } = opened ?? {}
        if (scope === undefined || to === undefined) return
        const isSilent = network.cut(peer.node, to.node) !== undefined
        network.after(isSilent ? 2 * heartbeatMs : network.delayMs, () =>
          to.machine.run(() => to.fork(Scope.close(scope, Exit.void))),
        )
      }
      peer.opened.add(close)
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          if (peer.opened.delete(close)) close()
        }),
      )
      const exit = yield* exchange(network, { ...request, use, isResent: network.resends })
      return Exit.isSuccess(exit)
        ? exit.value
        : yield* new NodeUnreachable({ id, reason: "refused" })
    })
  }
}

/** The failure of a call as its caller gets it. */
const failed = (
  id: ConversationId,
  schema: Schema.Top,
  cause: Cause.Cause<unknown>,
): Effect.Effect<never, unknown> => {
  const found = cause.reasons.find(Cause.isFailReason)
  if (found !== undefined) {
    return Effect.fail(Cause.isDone(found.error) ? found.error : copy(schema, found.error))
  }
  return Cause.hasDies(cause)
    ? Effect.failCause(cause as Cause.Cause<never>)
    : Effect.fail(new NodeUnreachable({ id, reason: "the call was interrupted" }))
}

/** The port of one process. */
export const simulatedNodes = (parts: NodeParts): Nodes["Service"] =>
  new SimulatedNodes(parts).service
