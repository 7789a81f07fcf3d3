/**
 * Port: the conversations that one process has in memory, and how it gives them up while it runs. `manager/Conversations.ts`
 * implements it beside `ConversationManager`; a program that spreads conversations over several processes uses it.
 */
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { Access, GetError } from "./ConversationManager.ts"
import type { Owner } from "./ConversationStore.ts"
import type { State } from "./decider/State.ts"
import { isIdle } from "./decider/State.ts"

/**
 * What a conversation does: `idle` nothing, `waiting` a turn waits for the answer of a person and for nothing else,
 * `running` everything else.
 */
export type Activity = "idle" | "waiting" | "running"

/** A conversation in memory. */
export interface HeldConversation {
  readonly id: ConversationId
  /** The principal that it belongs to. */
  readonly owner: Owner
  readonly activity: Activity
  /** True for one whose log only this process has, so that no other one can load it. */
  readonly isEphemeral: boolean
}

/** What a conversation in this state does. Each call of a turn that can ask waits by itself, so one question is enough. */
export const activityOf = (state: State): Activity => {
  if (isIdle(state)) return "idle"
  const waits = state.approvals.open.length > 0 || state.turn?.parked !== undefined
  return state.turn !== undefined && waits ? "waiting" : "running"
}

/** The conversations that this process has in memory. */
export class HeldConversations extends Context.Service<
  HeldConversations,
  {
    /** The conversations in memory, the least recently used first, without those that are created by their first turn. */
    readonly held: Effect.Effect<ReadonlyArray<HeldConversation>>
    /**
     * Gives a conversation up, so that another process may load it. What runs of it ends at once and nothing more is
     * recorded: pending questions stay pending, and a turn that runs is left as after a crash, for the process that loads it
     * next. Its listeners end with `ConversationUnavailable` because of `LeaseLost`. Resolves when its commands have ended
     * and its lease is given back; the next use loads it again. Does nothing for one that is not in memory.
     */
    readonly release: (id: ConversationId) => Effect.Effect<void>
    /**
     * The state of a conversation as its log in the store tells it, whichever process has the conversation. Loads nothing and
     * takes no lease.
     */
    readonly recordedState: (id: string, access?: Access) => Effect.Effect<State, GetError>
  }
>()("@colloquy/core/HeldConversations") {}
