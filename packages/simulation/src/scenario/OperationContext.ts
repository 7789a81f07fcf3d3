/** What the operations of one simulated run share. Types only. */
import type { Conversation } from "@colloquy/core/Conversation"
import type { ConversationManager } from "@colloquy/core/ConversationManager"
import type * as Effect from "effect/Effect"
import type { Recorder } from "../trace/Recorder.ts"
import type { Listeners } from "./Listeners.ts"
import type { Plan } from "./Plan.ts"

/** The running process that clients use. */
export interface Surroundings {
  readonly manager: ConversationManager["Service"]
  readonly listeners: Listeners
  readonly recorder: Recorder
  /** Closes the manager; resolves when every conversation has ended. */
  readonly close: Effect.Effect<void>
}

/** The process, the plan and the conversations of one run. */
export interface OperationContext extends Surroundings {
  readonly plan: Plan
  /** The conversation that was last created for each slot. */
  readonly slots: Map<number, Conversation>
}
