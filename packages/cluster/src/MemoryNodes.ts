/**
 * Nodes in one process, for tests and simulations. Each call passes through the schemas of its operation as JSON text, so
 * that what works here works between processes. Links can be cut, and nodes killed; who owns what is decided at once.
 *
 * A killed node responds to no call, and calls that it was carrying out fail. What its manager does is ended by the test.
 */
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Hash from "effect/Hash"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { operations } from "./ConversationOperations.ts"
import { NodeUnreachable } from "./NodeErrors.ts"
import { type ConversationCalls, Nodes } from "./Nodes.ts"
import { type Notice, Notices } from "./Notices.ts"

/** A schema that needs no services, as all operations have. */
type PlainSchema = Schema.Codec<unknown, unknown>

/** The schema of an operation, whose values are not known by their type here but by the schema itself. */
const plain = (schema: Schema.Top): PlainSchema => schema as PlainSchema

/** The value as another process gets it. */
const copy = (schema: Schema.Top, value: unknown): unknown => {
  const codec = Schema.fromJsonString(Schema.toCodecJson(plain(schema)))
  return Schema.decodeUnknownSync(codec)(Schema.encodeUnknownSync(codec)(value))
}

/** A handler of any operation. */
type AnyCall = (
  payload: unknown,
) => Effect.Effect<unknown, unknown> | Stream.Stream<unknown, unknown>

interface Node {
  readonly name: string
  calls: ConversationCalls | undefined
  isMember: boolean
  readonly killed: Deferred.Deferred<void>
  isKilled: boolean
  readonly watchers: Set<(notice: Notice) => void>
}

/** Nodes that know each other. */
export class MemoryNodes {
  private readonly nodes = new Map<string, Node>()
  private readonly cuts = new Set<string>()
  private readonly owners = new Map<string, string>()

  /** Layer of a new node, which owns its share from the time when it serves calls. */
  join(name: string): Layer.Layer<Nodes | Notices> {
    return Layer.suspend(() => {
      const node: Node = {
        name,
        calls: undefined,
        isMember: false,
        killed: Deferred.makeUnsafe(),
        isKilled: false,
        watchers: new Set(),
      }
      this.nodes.set(name, node)
      return Layer.merge(
        Layer.succeed(Nodes, this.serviceOf(node)),
        Layer.succeed(Notices, this.noticesOf(node)),
      )
    })
  }

  /** Name of the node that owns the conversation; undefined while there is none. */
  ownerOf(id: string): string | undefined {
    const members = [...this.nodes.values()].filter(({ isMember }) => isMember)
    const given = this.owners.get(id)
    if (members.some(({ name }) => name === given)) return given
    const weighed = members.map(({ name }) => ({ name, weight: Hash.string(`${id} ${name}`) }))
    return weighed.toSorted((one, other) => other.weight - one.weight)[0]?.name
  }

  /** The node owns the conversation from now on, while it is a member. */
  assign(id: string, name: string): void {
    this.owners.set(id, name)
  }

  /** No call passes between these nodes, in either direction, until `heal`. */
  cut(one: string, other: string): void {
    this.cuts.add(`${one} ${other}`).add(`${other} ${one}`)
  }

  /** Calls pass between all nodes again. */
  heal(): void {
    this.cuts.clear()
  }

  /** The node ends without a word. */
  kill(name: string): Effect.Effect<void> {
    return Effect.suspend(() => {
      const node = this.nodes.get(name)
      if (node === undefined) return Effect.void
      node.isMember = false
      node.isKilled = true
      return Effect.asVoid(Deferred.succeed(node.killed, undefined))
    })
  }

  private serviceOf(node: Node): Nodes["Service"] {
    return {
      self: node.name,
      owns: (id) => node.isMember && this.ownerOf(id) === node.name,
      sameOwner: (id, other) => this.ownerOf(id) === this.ownerOf(other),
      calls: (id) => this.callsFrom(node, id),
      serve: (calls) =>
        Effect.acquireRelease(
          Effect.sync(() => {
            node.calls = calls
            node.isMember = true
          }),
          () => this.kill(node.name),
        ),
      leave: Effect.sync(() => {
        node.isMember = false
      }),
    }
  }

  private noticesOf(node: Node): Notices["Service"] {
    return {
      send: (notice) =>
        Effect.sync(() => {
          for (const other of this.nodes.values()) {
            if (other === node || this.cuts.has(`${node.name} ${other.name}`)) continue
            for (const listener of other.watchers) listener(notice)
          }
        }),
      watch: (listener) =>
        Effect.asVoid(
          Effect.acquireRelease(
            Effect.sync(() => node.watchers.add(listener)),
            () => Effect.sync(() => node.watchers.delete(listener)),
          ),
        ),
    }
  }

  private callsFrom(node: Node, id: ConversationId): ConversationCalls<NodeUnreachable> {
    const all = operations.map((operation) => [
      operation._tag,
      (payload: unknown) => this.call(node, id, operation, payload),
    ])
    // One member per operation, each of the type that its definition gives.
    return Object.fromEntries(all) as ConversationCalls<NodeUnreachable>
  }

  private target(from: Node, id: ConversationId): Result.Result<Node, NodeUnreachable> {
    const owner = this.nodes.get(this.ownerOf(id) ?? "")
    const isReachable =
      owner?.calls !== undefined &&
      !owner.isKilled &&
      !from.isKilled &&
      !this.cuts.has(`${from.name} ${owner.name}`)
    return isReachable
      ? Result.succeed(owner)
      : Result.fail(new NodeUnreachable({ id, reason: "there is no connection" }))
  }

  private call(
    from: Node,
    id: ConversationId,
    operation: (typeof operations)[number],
    payload: unknown,
  ): Effect.Effect<unknown, unknown> | Stream.Stream<unknown, unknown> {
    const { _tag, errorSchema, payloadSchema, successSchema } = operation
    const request = Effect.suspend(() => Effect.fromResult(this.target(from, id))).pipe(
      Effect.map((node) => {
        const made = plain(payloadSchema).make(payload)
        const handler = (node.calls as Record<string, AnyCall> | undefined)?.[_tag]
        const ended = Effect.andThen(
          Deferred.await(node.killed),
          new NodeUnreachable({ id, reason: "the node has ended" }),
        )
        return { ended, response: handler?.(copy(payloadSchema, made)) }
      }),
    )
    if ("success" in successSchema) {
      const { error, success } = successSchema
      return Stream.unwrap(
        Effect.map(request, ({ ended, response }) =>
          (response as Stream.Stream<unknown, unknown>).pipe(
            Stream.map((item) => copy(success, item)),
            Stream.mapError((fault) => copy(error, fault)),
            Stream.interruptWhen(ended),
          ),
        ),
      )
    }
    return Effect.flatMap(request, ({ ended, response }) =>
      (response as Effect.Effect<unknown, unknown>).pipe(
        Effect.map((value) => copy(successSchema, value)),
        Effect.mapError((fault) => copy(errorSchema, fault)),
        Effect.raceFirst(ended),
      ),
    )
  }
}
