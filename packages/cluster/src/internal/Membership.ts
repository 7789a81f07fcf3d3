/**
 * The part of a node by which it is a member of the cluster. It ends first where the node leaves: others own what the node did
 * while it still carries out the calls that it has begun.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { bounded } from "../BoundedEnd.ts"

/** Time for what runs in entities and for some statements, each of which the database may not respond to. */
const ending = { name: "the membership of this node", within: "4 seconds" } as const

/** That part. */
export class Membership extends Context.Service<
  Membership,
  {
    /** Closes its layer. Resolves when that is done, and in bounded time. */
    readonly end: Effect.Effect<void>
  }
>()("@colloquy/cluster/Membership") {}

/** The layer, which closes at the end of the membership or with the layers around it. */
export const of = <A, E, R>(layer: Layer.Layer<A, E, R>): Layer.Layer<A | Membership, E, R> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const scope = yield* Scope.fork(yield* Effect.scope)
      const context = yield* Layer.buildWithScope(layer, scope)
      return Context.add(context, Membership, {
        end: bounded(Scope.close(scope, Exit.void), ending),
      })
    }),
  )
