/**
 * A conversation: one fiber that owns a `Ref` of state, an event log and a `PubSub` of events. What the fiber does is in
 * `ConversationActor.ts`; this creates it, new or from a stored log.
 */
import { defined } from "@colloquy/protocol/Defined"
import type { ConversationId } from "@colloquy/protocol/Ids"
import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
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
import type { Recovered } from "./recovery/LogFold.ts"
import { restoreState } from "./recovery/RestoreState.ts"
import type { ToolRuntime } from "./ToolRuntime.ts"

export type { Conversation, OwnedConversation } from "./conversation/ConversationHandle.ts"

/** The journal of a new conversation: its first events and the state after them. */
const newJournal = (
  id: ConversationId,
  settings: ConversationSettings,
  { maxListeners, nowMs }: { readonly maxListeners?: number; readonly nowMs: number },
): Journal => {
  const state = initialState(settings)
  const events = numberDrafts(state.seq, initialEvents(id, settings))
  const log = new EventLog()
  log.append(
    events,
    events.map(() => nowMs),
  )
  return new Journal(log, events.reduce(project, state), maxListeners)
}

/** The journal of a conversation that is in the store, or whose first records are held until more is recorded. */
const restoredJournal = (
  settings: ConversationSettings,
  existing: Recovered,
  { maxListeners, unrecorded }: Pick<ConversationOptions, "maxListeners" | "unrecorded">,
): Journal => {
  const state = restoreState(settings, existing)
  if (unrecorded === undefined) {
    return new Journal(existing.log, state, maxListeners, existing.hasOtherSettings)
  }
  const journal = new Journal(new EventLog(), initialState(settings), maxListeners)
  journal.hold(unrecorded, existing.log.all(), state)
  return journal
}

/** A conversation and its fiber. Interrupting the fiber shuts the conversation down within its bound. */
export interface StartedConversation {
  readonly conversation: OwnedConversation
  readonly fiber: Fiber.Fiber<void, Cause.Done>
}

/**
 * Starts a conversation, which runs until its fiber is interrupted or it is shut down; then `onClose` runs. Its fiber keeps
 * the context of this call. Fails, and leaves nothing behind, where it cannot record what becomes of the work that the
 * stored log has left unfinished.
 */
export const start = Effect.fnUntraced(function* (
  id: ConversationId,
  settings: ConversationSettings,
  { existing, repairs, unrecorded, ...options }: ConversationOptions = {},
): Effect.fn.Return<StartedConversation, ConversationUnavailable, ModelClient | ToolRuntime> {
  const services = yield* Effect.context<ModelClient | ToolRuntime>()
  const inbox = yield* Inbox.make
  const { maxListeners } = options
  const journal =
    existing === undefined
      ? newJournal(id, settings, {
          nowMs: yield* Clock.currentTimeMillis,
          ...defined({ maxListeners }),
        })
      : restoredJournal(settings, existing, defined({ maxListeners, unrecorded }))
  const conversation = new ConversationActor(id, options, { inbox, journal, services })
  if (existing !== undefined && unrecorded === undefined)
    yield* conversation.recover(existing.unfinished, repairs)
  // An interrupt that arrived before the fiber's first step would end it without a shutdown. The owner of the conversation
  // ends the fiber: a scope for each would cost every idle conversation memory.
  const fiber = yield* Effect.forkDetach(conversation.run, {
    startImmediately: true,
    uninterruptible: true,
  })
  return { conversation, fiber }
})

/** Starts a conversation that runs until the scope closes. */
export const make = (
  ...of: [id: ConversationId, settings: ConversationSettings, options?: ConversationOptions]
): Effect.Effect<
  OwnedConversation,
  ConversationUnavailable,
  Scope.Scope | ModelClient | ToolRuntime
> =>
  Effect.map(
    Effect.acquireRelease(start(...of), ({ fiber }) => Fiber.interrupt(fiber)),
    ({ conversation }) => conversation,
  )
