/**
 * A conversation: one fiber that owns a `Ref` of state, an event log and the listeners it tells (design §4). What its
 * fiber does is in `LiveConversation.ts`; here it is made, anew or from what an earlier life left.
 */
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { ConversationUnavailable } from "./ConversationErrors.ts"
import type { ConversationOptions, OwnedConversation } from "./ConversationHandle.ts"
import type { ConversationSettings } from "./ConversationSettings.ts"
import { initial, number, project } from "./ConversationState.ts"
import { EventLog } from "./EventLog.ts"
import { Inbox } from "./Inbox.ts"
import { Journal } from "./Journal.ts"
import { LiveConversation } from "./LiveConversation.ts"
import type { ModelClient } from "./ModelClient.ts"
import { opening } from "./Opening.ts"
import { restore } from "./Restore.ts"
import type { ToolRuntime } from "./ToolRuntime.ts"

export type { Conversation, OwnedConversation } from "./ConversationHandle.ts"

/** A conversation that has said nothing but its first events. */
const beginning = (
  id: ConversationId,
  settings: ConversationSettings,
  maxListeners: number | undefined,
): Journal => {
  const state = initial(settings)
  const events = number(state.seq, opening(id, settings))
  const log = new EventLog()
  log.append(events)
  return new Journal(log, events.reduce(project, state), maxListeners)
}

/**
 * Makes a conversation that lives until the scope closes or it is shut down; then `onClose` runs. Its fiber keeps the
 * context that this runs in. Fails, and nothing is left behind, when it cannot record what becomes of what an earlier
 * life left open.
 */
export const makeIn = Effect.fnUntraced(function* (
  scope: Scope.Scope,
  id: ConversationId,
  settings: ConversationSettings,
  { existing, repairs, ...options }: ConversationOptions = {},
): Effect.fn.Return<OwnedConversation, ConversationUnavailable, ModelClient | ToolRuntime> {
  const services = yield* Effect.context<ModelClient | ToolRuntime>()
  const inbox = yield* Inbox.make
  const { maxListeners } = options
  const journal =
    existing === undefined
      ? beginning(id, settings, maxListeners)
      : new Journal(existing.log, restore(settings, existing), maxListeners)
  const live = new LiveConversation(id, options, { inbox, journal, services })
  if (existing !== undefined) yield* live.begin(existing.left, repairs)
  // An interrupt that came before the fiber got to its first step would end it without a word.
  yield* Effect.forkIn(live.life, scope, { startImmediately: true, uninterruptible: true })
  return live
})

/** Likewise, in the scope at hand. */
export const make = (
  ...of: [id: ConversationId, settings: ConversationSettings, options?: ConversationOptions]
): Effect.Effect<
  OwnedConversation,
  ConversationUnavailable,
  Scope.Scope | ModelClient | ToolRuntime
> => Effect.flatMap(Effect.scope, (scope) => makeIn(scope, ...of))
