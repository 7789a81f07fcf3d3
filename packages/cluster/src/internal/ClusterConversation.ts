/** The conversation that the manager of a cluster gives to its callers: each call finds the node that has it now. */
import type { Conversation } from "@colloquy/core/Conversation"
import {
  type AttachError,
  ConversationClosed,
  ConversationUnavailable,
  type ManagerClosed,
  type NoSuchConversation,
} from "@colloquy/core/ConversationErrors"
import type { Access, ConversationManager, GetError } from "@colloquy/core/ConversationManager"
import type { SettingsResolver } from "@colloquy/core/ConversationSettings"
import type { State } from "@colloquy/core/decider/State"
import { attachedEvents, type Listener } from "@colloquy/core/listeners/Listener"
import type { AttachOptions } from "@colloquy/core/listeners/Listeners"
import { defined } from "@colloquy/protocol/Defined"
import { type ConversationId, type SubmissionId, uuidV7 } from "@colloquy/protocol/Ids"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import { attach } from "./ClusterListener.ts"
import { elsewhereOf } from "./Moving.ts"
import type { Routing } from "./Routing.ts"
import { sourceHere, sourceThere } from "./Sources.ts"

/** What the conversations of a manager share. */
export interface ConversationParts {
  readonly routing: Routing
  /** The manager of this process. */
  readonly local: ConversationManager["Service"]
  readonly resolver: SettingsResolver["Service"]
}

/** First and longest wait between two attempts to load a conversation for a client that waits for it. */
const firstLoadMs = 1000
const longestLoadMs = 10_000

const word = Random.nextIntBetween(0, 2 ** 32, { halfOpen: true })

/** An id that no other call has. */
const newId = Effect.gen(function* () {
  const words = [yield* word, yield* word, yield* word, yield* word] as const
  return uuidV7(yield* Clock.currentTimeMillis, words)
})

/** A conversation that is gone, or whose node closes, is not available to a caller that holds it. */
const unavailable =
  (id: ConversationId) =>
  <E>(error: E | NoSuchConversation | ManagerClosed): E | ConversationUnavailable => {
    const { _tag, message } = error as { readonly _tag: string; readonly message: string }
    return _tag === "NoSuchConversation" || _tag === "ManagerClosed"
      ? new ConversationUnavailable({ id, reason: message })
      : (error as E)
  }

/** A conversation on whichever node has it. The members are those of `Conversation`. */
export class ClusterConversation implements Conversation {
  readonly id: ConversationId
  private readonly access: Access | undefined
  private readonly parts: ConversationParts
  /** Present until the first submission to a conversation that is created by it: only this process knows it. */
  private uncreated: Conversation | undefined

  constructor(
    id: ConversationId,
    access: Access | undefined,
    parts: ConversationParts,
    uncreated?: Conversation,
  ) {
    this.id = id
    this.access = access
    this.parts = parts
    this.uncreated = uncreated
  }

  submit(...[op, options]: Parameters<Conversation["submit"]>): ReturnType<Conversation["submit"]> {
    const { uncreated } = this
    if (uncreated !== undefined) {
      return Effect.tap(uncreated.submit(op, options), () =>
        Effect.sync(() => void (this.uncreated = undefined)),
      )
    }
    // A repetition has the same id, so that an op whose receipt was lost does not take effect twice. The conversation
    // itself gives an id to one that leaves no other node in doubt.
    let submission = options?.id
    const submitting = this.parts.routing.call(this.id, ({ calls, isOwn }) =>
      Effect.gen({ self: this }, function* () {
        const key = yield* newId
        if (!isOwn) submission ??= key
        const { because, whileRunning } = options ?? {}
        const more = defined({ submission, because, whileRunning })
        return yield* calls.Submit({ ...this.target, key, op, ...more })
      }),
    )
    return Effect.mapError(submitting, unavailable(this.id))
  }

  cancel(submission: SubmissionId): Effect.Effect<void> {
    const { uncreated } = this
    if (uncreated !== undefined) return uncreated.cancel(submission)
    return this.parts.routing
      .call(this.id, ({ calls }) => calls.Cancel({ ...this.target, submission }))
      .pipe(Effect.catch(({ message }) => Effect.logWarning(`not cancelled: ${message}`)))
  }

  attach(options: AttachOptions = {}): Effect.Effect<Listener, AttachError, Scope.Scope> {
    return Effect.mapError(this.listen(options), unavailable(this.id))
  }

  /** Like `attach`, with the reason where the conversation cannot be used. */
  listen(options: AttachOptions): Effect.Effect<Listener, GetError | AttachError, Scope.Scope> {
    return attach(this.id, options.from, (from) =>
      this.source({ ...options, ...defined({ from }) }),
    )
  }

  private source(options: AttachOptions) {
    const { local, routing } = this.parts
    const { access, id, uncreated } = this
    if (uncreated !== undefined) return sourceHere(uncreated, options)
    return routing.call(id, ({ calls, isOwn }) => {
      if (!isOwn) return sourceThere(id, calls.Attach({ ...this.target, ...options }))
      const attaching = Effect.flatMap(local.get(id, access), (one) => sourceHere(one, options))
      return Effect.mapError(attaching, (error) => elsewhereOf(id, error) ?? error)
    })
  }

  events(...[options]: Parameters<Conversation["events"]>): ReturnType<Conversation["events"]> {
    return attachedEvents(this, options)
  }

  get state(): Conversation["state"] {
    return Effect.mapError(this.readState, unavailable(this.id))
  }

  /** Like `state`, with the reason where the conversation cannot be used. */
  get readState(): Effect.Effect<State, GetError> {
    const { local, routing } = this.parts
    const { access, id } = this
    return Effect.suspend((): Effect.Effect<State, GetError> => {
      if (this.uncreated !== undefined) return this.uncreated.state
      return routing.call(id, ({ calls, isOwn }) => {
        if (!isOwn) return this.readStateThere(calls.ReadState(this.target))
        const reading = Effect.flatMap(local.get(id, access), (one) => one.state)
        return Effect.mapError(reading, (error) => elsewhereOf(id, error) ?? error)
      })
    })
  }

  private readStateThere<E>(
    reading: Effect.Effect<
      {
        readonly settings: Parameters<SettingsResolver["Service"]["resolve"]>[0]["stored"] & {}
        readonly rest: string
      },
      E
    >,
  ): Effect.Effect<State, E | ConversationUnavailable> {
    return Effect.flatMap(reading, ({ rest, settings: stored }) =>
      this.parts.resolver.resolve({ stored }).pipe(
        Effect.mapError(
          (because) =>
            new ConversationUnavailable({ id: this.id, reason: because.message, because }),
        ),
        // The owner of the conversation sends its state, which is plain data but for the settings.
        Effect.map((settings) => ({ ...(JSON.parse(rest) as Omit<State, "settings">), settings })),
      ),
    )
  }

  get loaded(): Conversation["loaded"] {
    return Effect.suspend(() =>
      this.uncreated === undefined ? this.untilLoaded(firstLoadMs) : this.uncreated.loaded,
    )
  }

  private untilLoaded(waitMs: number): Conversation["loaded"] {
    return this.parts.routing
      .call(this.id, ({ calls }) => calls.Load(this.target))
      .pipe(
        Effect.catch((error) =>
          error._tag === "ConversationUnavailable"
            ? Effect.andThen(
                Effect.sleep(waitMs),
                this.untilLoaded(Math.min(2 * waitMs, longestLoadMs)),
              )
            : Effect.fail(new ConversationClosed()),
        ),
      )
  }

  private get target() {
    return { id: this.id, ...defined({ access: this.access }) }
  }
}
