/**
 * The operations on a conversation, carried out by the manager of this process. Used by this node for the conversations
 * that it owns, without any encoding, and by `Nodes.serve` for the calls of other nodes.
 *
 * A conversation that another process has gives `Elsewhere`. A defect becomes `ConversationUnavailable`: a caller on another
 * node would wait for a response for ever.
 */
import {
  ConversationUnavailable,
  type ManagerClosed,
  NoSuchConversation,
} from "@colloquy/core/ConversationErrors"
import type { Conversation } from "@colloquy/core/Conversation"
import type { Revision } from "@colloquy/core/ConversationStore"
import type { Access, ConversationManager, GetError } from "@colloquy/core/ConversationManager"
import { withoutIds } from "@colloquy/core/decider/Receipts"
import { isTurnOp } from "@colloquy/core/decider/State"
import { runTurn } from "@colloquy/core/listeners/TurnRun"
import { SettingsError } from "@colloquy/core/ConversationSettings"
import { type LeaseHeld, StoreError } from "@colloquy/core/StoreErrors"
import { toStored } from "@colloquy/core/store/Settings"
import { defined } from "@colloquy/protocol/Defined"
import type { ConversationId } from "@colloquy/protocol/Ids"
import type { Op } from "@colloquy/protocol/Op"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Elsewhere } from "../NodeErrors.ts"
import type { ConversationCalls } from "../Nodes.ts"
import type { Workspaces } from "../Workspaces.ts"
import { elsewhereOf, heldElsewhere } from "./Moving.ts"
import { itemStream, itemsOf } from "./StreamItems.ts"

/** What the operations need of this node. */
export interface OwnerParts {
  readonly manager: ConversationManager["Service"]
  readonly workspaces: Workspaces["Service"]
  /** The ephemeral conversations that were created here and not removed, which no other node can have. */
  readonly ephemeral: Set<ConversationId>
  /** True if this node owns the conversation. */
  readonly owns: (id: ConversationId) => boolean
  /** Tells the node that has this conversation, which this node owns, to give it up now. It may not arrive. */
  readonly need: (id: ConversationId) => Effect.Effect<void>
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

/** True for an op that ends the turn which runs. */
const endsTurn = ({
  op,
  whileRunning,
}: {
  readonly op: Op
  readonly whileRunning?: string | undefined
}): boolean => op.type === "interrupt" || op.type === "shutdown" || whileRunning === "interrupt"

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
    const submitting = settled(
      id,
      Effect.gen({ self: this }, function* () {
        const conversation = yield* this.get(payload)
        if (isTurnOp(op)) yield* this.checkTurn(conversation, op)
        return yield* conversation.submit(op, defined({ id: submission, whileRunning, because }))
      }),
    )
    return endsTurn(payload) ? this.pressing(id, submitting) : submitting
  }

  readonly SubmitStored: ConversationCalls["SubmitStored"] = (payload) => this.Submit(payload)

  readonly RunTurn: ConversationCalls["RunTurn"] = (payload) =>
    settled(
      payload.id,
      Effect.flatMap(this.get(payload), (conversation) =>
        runTurn(conversation, this.Submit(payload), payload.submission),
      ),
    )

  readonly Cancel: ConversationCalls["Cancel"] = (payload) =>
    this.pressing(
      payload.id,
      settled(
        payload.id,
        Effect.flatMap(this.get(payload), (conversation) =>
          conversation.cancel(payload.submission),
        ),
      ),
    )

  readonly Attach: ConversationCalls["Attach"] = (payload) => {
    const { answers, from, id, lacksTexts = from === undefined, limits } = payload
    const attaching = Effect.gen({ self: this }, function* () {
      const conversation = yield* this.get(payload)
      const start = from ?? (yield* conversation.state).seq
      const options = { from: start, lacksTexts, ...defined({ answers, limits }) }
      const listener = yield* conversation.attach(options)
      return itemsOf(id, start, listener)
    })
    return Stream.unwrap(settled(id, attaching))
  }

  readonly ReadState: ConversationCalls["ReadState"] = (payload) =>
    settled(
      payload.id,
      Effect.gen({ self: this }, function* () {
        const { receipts, settings, ...more } = yield* (yield* this.get(payload)).state
        const rest = JSON.stringify({ ...more, receipts: withoutIds(receipts) })
        return { settings: toStored(settings), rest }
      }),
    )

  readonly Metadata: ConversationCalls["Metadata"] = ({ access, id }) =>
    settled(id, this.ofEphemeral(id, this.parts.manager.metadata({ id }, access)))

  readonly History: ConversationCalls["History"] = ({ access, from, id }) =>
    Stream.unwrap(
      Effect.map(
        settled(id, this.ofEphemeral(id, this.parts.manager.history(id, access, from))),
        itemStream,
      ),
    )

  readonly Fork: ConversationCalls["Fork"] = ({ access, copy, ephemeral, id, rule }) =>
    settled(
      id,
      Effect.gen({ self: this }, function* () {
        const { ephemeral: here, manager, owns } = this.parts
        // Every node looks for an ephemeral conversation at the owner of its id: with another id none would find it.
        const isOther = (ephemeral ?? here.has(id)) && copy !== undefined && !owns(copy)
        const options = defined({ ephemeral, id: isOther ? undefined : copy })
        const forked = yield* manager.fork(id, rule, access, options)
        if ((yield* forked.state).settings.ephemeral === true) here.add(forked.id)
        return { id: forked.id }
      }),
    )

  readonly Remove: ConversationCalls["Remove"] = (target) =>
    Effect.tap(
      this.ending(target, this.parts.manager.remove(target.id, target.access, target.revision)),
      () => Effect.sync(() => void this.parts.ephemeral.delete(target.id)),
    )

  readonly Archive: ConversationCalls["Archive"] = (target) =>
    this.ending(target, this.parts.manager.archive(target.id, target.access, target.revision))

  readonly Unarchive: ConversationCalls["Unarchive"] = (target) =>
    this.ending(target, this.parts.manager.unarchive(target.id, target.access, target.revision))

  private ofEphemeral<A, E>(
    id: ConversationId,
    asking: Effect.Effect<A, E>,
  ): Effect.Effect<A, E | NoSuchConversation> {
    return Effect.suspend((): Effect.Effect<A, E | NoSuchConversation> =>
      this.parts.ephemeral.has(id) ? asking : Effect.fail(new NoSuchConversation({ id })),
    )
  }

  /** These have no error for what cannot be used: a defect stays one, and `Nodes` says that the node does not respond. */
  private ending<E>(
    { access, id, revision }: Target & { readonly revision?: Revision },
    operation: Effect.Effect<void, E>,
  ): Effect.Effect<
    void,
    Exclude<E, ManagerClosed | LeaseHeld> | NoSuchConversation | StoreError | Elsewhere
  > {
    const { manager } = this.parts
    const ending = Effect.mapError(
      operation,
      (error) => elsewhereOf(id, error) ?? (error as Exclude<E, ManagerClosed | LeaseHeld>),
    )
    if (revision === undefined) return this.pressing(id, ending)
    // Whoever has used the conversation since keeps it.
    const current = Effect.flatMap(manager.metadata({ id }, access), (now) =>
      now.revision === revision ? Effect.void : Effect.fail(new Elsewhere({ id })),
    )
    return Effect.catchIf(ending, heldElsewhere, (error) =>
      Effect.andThen(current, this.pressing(id, Effect.fail(error))),
    )
  }

  /**
   * For an operation that ends what runs: it would wait until that has ended by itself where the node that had the
   * conversation before still carries it out.
   */
  private pressing<A, E>(id: ConversationId, operation: Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.tapError(operation, (error) =>
      heldElsewhere(error) ? this.parts.need(id) : Effect.void,
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
