/**
 * A conversation: one fiber that owns a `Ref` of state, an event log and the listeners it tells (design §4). What its
 * fiber does is in `LiveConversation.ts`; here it is made, anew or from what an earlier life left.
 */
import type { ConversationId } from "@colloquy/protocol/Ids"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import type { ConversationUnavailable } from "./ConversationErrors.ts"
import type { ConversationOptions, OwnedConversation } from "./conversation/ConversationHandle.ts"
import type { ConversationSettings } from "./ConversationSettings.ts"
import { initialState, numberDrafts, project } from "./decider/State.ts"
import { EventLog } from "./log/EventLog.ts"
import { Inbox } from "./conversation/Inbox.ts"
import { Journal } from "./conversation/Journal.ts"
import { ConversationActor } from "./conversation/ConversationActor.ts"
import type { ModelClient } from "./ModelClient.ts"
import { initialEvents } from "./decider/InitialEvents.ts"
import { restoreState } from "./recovery/RestoreState.ts"
import type { ToolRuntime } from "./ToolRuntime.ts"

export type { Conversation, OwnedConversation } from "./conversation/ConversationHandle.ts"

/** A conversation that has said nothing but its first events. */
const beginning = (
  id: ConversationId,
  settings: ConversationSettings,
  maxListeners: number | undefined,
): Journal => {
  const state = initialState(settings)
  const events = numberDrafts(state.seq, initialEvents(id, settings))
  const log = new EventLog()
  log.append(events)
  return new Journal(log, events.reduce(project, state), maxListeners)
}

/** A conversation and its fiber, which ends with it; interrupted, it is shut down within its bound. */
export interface Begun {
  readonly conversation: OwnedConversation
  readonly fiber: Fiber.Fiber<void, Cause.Done>
}

/**
 * Makes a conversation that lives until its fiber is interrupted or it is shut down; then `onClose` runs. Its fiber keeps
 * the context that this runs in. Fails, and nothing is left behind, when it cannot record what becomes of what an
 * earlier life left open.
 */
export const begin = Effect.fnUntraced(function* (
  id: ConversationId,
  settings: ConversationSettings,
  { existing, repairs, ...options }: ConversationOptions = {},
): Effect.fn.Return<Begun, ConversationUnavailable, ModelClient | ToolRuntime> {
  const services = yield* Effect.context<ModelClient | ToolRuntime>()
  const inbox = yield* Inbox.make
  const { maxListeners } = options
  const journal =
    existing === undefined
      ? beginning(id, settings, maxListeners)
      : new Journal(existing.log, restoreState(settings, existing), maxListeners)
  const conversation = new ConversationActor(id, options, { inbox, journal, services })
  if (existing !== undefined) yield* conversation.begin(existing.unfinished, repairs)
  // An interrupt that came before the fiber got to its first step would end it without a word. Whoever owns the
  // conversation ends the fiber: a scope of its own for each would cost every idle one anew.
  const fiber = yield* Effect.forkDetach(conversation.life, {
    startImmediately: true,
    uninterruptible: true,
  })
  return { conversation, fiber }
})

/** Likewise; it lives until the scope at hand closes. */
export const make = (
  ...of: [id: ConversationId, settings: ConversationSettings, options?: ConversationOptions]
): Effect.Effect<
  OwnedConversation,
  ConversationUnavailable,
  Scope.Scope | ModelClient | ToolRuntime
> =>
  Effect.map(
    Effect.acquireRelease(begin(...of), ({ fiber }) => Fiber.interrupt(fiber)),
    ({ conversation }) => conversation,
  )
