/**
 * Carries out an operation on the node that has the conversation, and repeats it while the conversation moves: with growing
 * waits, within a bound. Then it fails with `ConversationUnavailable`.
 */
import { ConversationUnavailable, ManagerClosed } from "@colloquy/core/ConversationErrors"
import { StoreError } from "@colloquy/core/StoreErrors"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { Elsewhere, NodeUnreachable } from "../NodeErrors.ts"
import type { ConversationCalls, Nodes } from "../Nodes.ts"
import { isMoving } from "./Moving.ts"

/** Wait before the first repetition: a lease is given back within some milliseconds. It doubles up to the longest one. */
const firstWaitMs = 20
const longestWaitMs = 320

/** What routing needs of this node. */
export interface RoutingParts {
  readonly nodes: Nodes["Service"]
  /** The operations of this node. */
  readonly own: ConversationCalls
  /** Longest time for which an operation is repeated. */
  readonly patience: Duration.Duration
  readonly isClosed: () => boolean
  /** True for a conversation that this node has although it does not own it. */
  readonly isHere: (id: ConversationId) => boolean
  /** True once this node has left the cluster, and calls no other one any more. */
  readonly hasLeft: () => boolean
}

/** The operations, and whether they are those of this node itself. */
export interface Route {
  readonly calls: ConversationCalls<NodeUnreachable>
  readonly isOwn: boolean
  /** True where the operations fail, because this node has left the cluster. */
  readonly hasLeft: boolean
  /** True where an earlier attempt may have been carried out, whose response was lost. */
  readonly mayBeDone: boolean
}

/** The errors of an operation that is repeated while the conversation moves. */
type Settled<E> = Exclude<E, Elsewhere | NodeUnreachable> | ConversationUnavailable | ManagerClosed

/**
 * Says who has the conversation only where that means that nothing was carried out: an earlier attempt may have been, whose
 * response was lost, and the caller would send it once more.
 */
const gaveUp = (
  id: ConversationId,
  last: Elsewhere | NodeUnreachable,
  lost: NodeUnreachable | undefined,
): ConversationUnavailable => {
  const held = last instanceof Elsewhere && lost === undefined ? last.held : undefined
  const message =
    lost === undefined || lost === last ? last.message : `${lost.message}; then: ${last.message}`
  const because = held ?? new StoreError({ operation: "open", reason: "Unreachable", message })
  return new ConversationUnavailable({ id, reason: because.message, because })
}

/** The refusal of a node that closes says that nothing is carried out: not where an earlier attempt may have been. */
export const refusalOf = <E>(
  id: ConversationId,
  error: E,
  lost: NodeUnreachable | undefined,
): E | ConversationUnavailable =>
  error instanceof ManagerClosed && lost !== undefined ? gaveUp(id, lost, lost) : error

/** One of the attempts at an operation. */
interface Attempt {
  /** Time of the last one. */
  readonly untilMs: number
  /** Wait before the next one. */
  readonly waitMs: number
  /** The last failure of an earlier one that may have been carried out. */
  readonly lost?: NodeUnreachable | undefined
}

/** Finds the node of each operation. */
export class Routing {
  private readonly parts: RoutingParts

  constructor(parts: RoutingParts) {
    this.parts = parts
  }

  /**
   * Runs `use` with the operations on the node that has the conversation, again and again while it moves.
   *
   * @param lost failure of an attempt before these, which may have been carried out
   */
  call<A, E, R>(
    id: ConversationId,
    use: (route: Route) => Effect.Effect<A, E, R>,
    lost?: NodeUnreachable,
  ): Effect.Effect<A, Settled<E>, R> {
    return Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
      const untilMs = nowMs + Duration.toMillis(this.parts.patience)
      return this.attempt(id, use, { untilMs, waitMs: firstWaitMs, lost })
    })
  }

  /** Runs `use` once; fails with `Elsewhere` or `NodeUnreachable` where the conversation moves. */
  once<A, E, R>(
    id: ConversationId,
    use: (route: Route) => Effect.Effect<A, E, R>,
    lost?: NodeUnreachable,
  ): Effect.Effect<A, E | ManagerClosed, R> {
    return Effect.suspend((): Effect.Effect<A, E | ManagerClosed, R> =>
      this.parts.isClosed()
        ? Effect.fail(new ManagerClosed())
        : use({ ...this.routeTo(id), mayBeDone: lost !== undefined }),
    )
  }

  private attempt<A, E, R>(
    id: ConversationId,
    use: (route: Route) => Effect.Effect<A, E, R>,
    { lost: lostBefore, untilMs, waitMs }: Attempt,
  ): Effect.Effect<A, Settled<E>, R> {
    return Effect.catch(
      this.once(id, use, lostBefore),
      (error): Effect.Effect<A, Settled<E>, R> => {
        // What is not repeated is every other case of the errors.
        if (!isMoving(error)) return Effect.fail(refusalOf(id, error as Settled<E>, lostBefore))
        const lost = error instanceof NodeUnreachable ? error : lostBefore
        return Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
          const leftMs = untilMs - nowMs
          if (leftMs <= 0) return Effect.fail(gaveUp(id, error, lost))
          return Effect.andThen(
            Effect.sleep(Math.min(waitMs, leftMs)),
            this.attempt(id, use, { untilMs, waitMs: Math.min(2 * waitMs, longestWaitMs), lost }),
          )
        })
      },
    )
  }

  private routeTo(id: ConversationId): Omit<Route, "mayBeDone"> {
    const { hasLeft, isHere, nodes, own } = this.parts
    return isHere(id) || nodes.owns(id)
      ? { calls: own, isOwn: true, hasLeft: false }
      : { calls: nodes.calls(id), isOwn: false, hasLeft: hasLeft() }
  }
}
