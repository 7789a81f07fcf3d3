/**
 * The operations on a conversation, carried out by the manager of this process. Used by this node for the conversations
 * that it owns, without any encoding, and by `Nodes.serve` for the calls of other nodes.
 *
 * A conversation that another process has gives `Elsewhere`. A defect becomes `ConversationUnavailable`: a caller on another
 * node would wait for a response for ever.
 */
import { ConversationUnavailable, type ManagerClosed } from "@colloquy/core/ConversationErrors"
import type { Conversation } from "@colloquy/core/Conversation"
import type { Access, ConversationManager, GetError } from "@colloquy/core/ConversationManager"
import { isTurnOp } from "@colloquy/core/decider/State"
import type { Listener } from "@colloquy/core/listeners/Listener"
import { SettingsError } from "@colloquy/core/ConversationSettings"
import { type LeaseHeld, StoreError } from "@colloquy/core/StoreErrors"
import { toStored } from "@colloquy/core/store/Settings"
import { defined } from "@colloquy/protocol/Defined"
import type { ConversationId } from "@colloquy/protocol/Ids"
import type { Op } from "@colloquy/protocol/Op"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Pull from "effect/Pull"
import * as Stream from "effect/Stream"
import { aliveEvery, type StreamItem } from "../ConversationOperations.ts"
import { Elsewhere } from "../NodeErrors.ts"
import type { ConversationCalls } from "../Nodes.ts"
import type { Workspaces } from "../Workspaces.ts"
import { elsewhereOf } from "./Moving.ts"

/** What the operations need of this node. */
export interface OwnerParts {
  readonly manager: ConversationManager["Service"]
  readonly workspaces: Workspaces["Service"]
  /** Called with the id of each ephemeral conversation that is created here, which no other node can have. */
  readonly addEphemeral: (id: ConversationId) => void
}

interface Target {
  readonly id: ConversationId
  readonly access?: Access
}

/** An error without a cause would say that the conversation is archived. */
const unavailable = (id: ConversationId, because: StoreError | SettingsError) =>
  new ConversationUnavailable({ id, reason: because.message, because })

/** Failures of the manager that say where the conversation is become `Elsewhere`, and defects a typed error. */
const settled = <A, E, R>(
  id: ConversationId,
  effect: Effect.Effect<A, E, R>,
): Effect.Effect<
  A,
  Exclude<E, ManagerClosed | LeaseHeld> | Elsewhere | ConversationUnavailable,
  R
> =>
  effect.pipe(
    Effect.mapError(
      (error) => elsewhereOf(id, error) ?? (error as Exclude<E, ManagerClosed | LeaseHeld>),
    ),
    Effect.catchDefect((defect) =>
      Effect.andThen(
        Effect.logError(`an operation on conversation ${id} failed with a defect`, defect),
        unavailable(
          id,
          new StoreError({
            operation: "open",
            reason: "Other",
            message: "an internal error occurred",
          }),
        ),
      ),
    ),
  )

/** The deliveries of a listener as items of a stream, which is cut where the conversation moves. */
const itemsOf = (id: ConversationId, listener: Listener): Stream.Stream<StreamItem, Elsewhere> => {
  let isOver = false
  const next = Effect.suspend((): Pull.Pull<readonly [StreamItem], Elsewhere> =>
    isOver
      ? Cause.done()
      : Effect.matchEffect(listener.take, {
          onSuccess: (deliveries) => Effect.succeed([{ _tag: "Deliveries", deliveries }] as const),
          onFailure: (end) => {
            const elsewhere = elsewhereOf(id, end)
            if (elsewhere !== undefined) return Effect.fail(elsewhere)
            isOver = true
            const because = end._tag === "Done" ? undefined : end
            return Effect.succeed([{ _tag: "Ended", ...defined({ because }) }] as const)
          },
        }),
  )
  return Stream.fromPull(Effect.succeed(next))
}

/** Never ends. */
const alive: Stream.Stream<StreamItem> = Stream.fromEffectRepeat(
  Effect.delay(Effect.succeed({ _tag: "Alive" } as const), aliveEvery),
)

class OwnerCalls implements ConversationCalls {
  private readonly parts: OwnerParts

  constructor(parts: OwnerParts) {
    this.parts = parts
  }

  private get({ access, id }: Target): Effect.Effect<Conversation, GetError> {
    return this.parts.manager.get(id, access)
  }

  readonly Load: ConversationCalls["Load"] = (target) =>
    settled(target.id, Effect.asVoid(this.get(target)))

  readonly Submit: ConversationCalls["Submit"] = (payload) => {
    const { because, id, op, submission, whileRunning } = payload
    return settled(
      id,
      Effect.gen({ self: this }, function* () {
        const conversation = yield* this.get(payload)
        if (isTurnOp(op)) yield* this.checkTurn(conversation, op)
        return yield* conversation.submit(op, defined({ id: submission, whileRunning, because }))
      }),
    )
  }

  readonly Cancel: ConversationCalls["Cancel"] = (payload) =>
    settled(
      payload.id,
      Effect.flatMap(this.get(payload), (conversation) => conversation.cancel(payload.submission)),
    )

  readonly Attach: ConversationCalls["Attach"] = (payload) => {
    const { answers, from, id, limits } = payload
    const attaching = Effect.gen({ self: this }, function* () {
      const conversation = yield* this.get(payload)
      const start = from ?? (yield* conversation.state).seq
      const listener = yield* conversation.attach({ from: start, ...defined({ answers, limits }) })
      const attached: StreamItem = { _tag: "Attached", from: start }
      const items = Stream.merge(itemsOf(id, listener), alive, { haltStrategy: "left" })
      return Stream.concat(Stream.succeed(attached), items)
    })
    return Stream.unwrap(settled(id, attaching))
  }

  readonly ReadState: ConversationCalls["ReadState"] = (payload) =>
    settled(
      payload.id,
      Effect.gen({ self: this }, function* () {
        const { settings, ...rest } = yield* (yield* this.get(payload)).state
        return { settings: toStored(settings), rest: JSON.stringify(rest) }
      }),
    )

  readonly Fork: ConversationCalls["Fork"] = ({ access, ephemeral, id, rule }) =>
    settled(
      id,
      Effect.gen({ self: this }, function* () {
        const { addEphemeral, manager } = this.parts
        const forked = yield* manager.fork(id, rule, access, defined({ ephemeral }))
        if ((yield* forked.state).settings.ephemeral === true) addEphemeral(forked.id)
        return { id: forked.id }
      }),
    )

  readonly Remove: ConversationCalls["Remove"] = ({ access, id }) =>
    this.ending(id, this.parts.manager.remove(id, access))

  readonly Archive: ConversationCalls["Archive"] = ({ access, id }) =>
    this.ending(id, this.parts.manager.archive(id, access))

  readonly Unarchive: ConversationCalls["Unarchive"] = ({ access, id }) =>
    this.ending(id, this.parts.manager.unarchive(id, access))

  /** These have no error for what cannot be used: a defect stays one, and `Nodes` says that the node does not respond. */
  private ending<E>(id: ConversationId, ending: Effect.Effect<void, E>) {
    return Effect.mapError(
      ending,
      (error) => elsewhereOf(id, error) ?? (error as Exclude<E, ManagerClosed | LeaseHeld>),
    )
  }

  /** Fails where this node lacks the directory in which the turn would run. */
  private checkTurn(
    conversation: Conversation,
    op: Op,
  ): Effect.Effect<void, ConversationUnavailable> {
    return Effect.gen({ self: this }, function* () {
      const { id } = conversation
      const cwd = op.type === "user_turn" ? op.cwd : (yield* conversation.state).settings.cwd
      if (!(yield* this.parts.workspaces.exists(cwd))) {
        const message = `its working directory ${cwd} does not exist on this node`
        return yield* unavailable(id, new SettingsError({ message, key: "cwd" }))
      }
    })
  }
}

/** The operations of this node. */
export const ownerCalls = (parts: OwnerParts): ConversationCalls => new OwnerCalls(parts)
