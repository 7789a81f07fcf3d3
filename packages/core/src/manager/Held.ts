/** The implementation of `HeldConversations` over the conversations in memory of one manager. */
import * as Effect from "effect/Effect"
import { activityOf, type HeldConversation, type HeldConversations } from "../HeldConversations.ts"
import type { Entry } from "./Entry.ts"
import type { LoadedConversations } from "./LoadedConversations.ts"

/** One that another process could load; undefined for any other. */
const held = (entry: Entry): Effect.Effect<HeldConversation | undefined> => {
  const { id, isHidden, owner = null, placement } = entry
  return placement._tag !== "Loaded" || isHidden
    ? Effect.undefined
    : Effect.map(placement.loaded.conversation.state, (state) =>
        state.settings.ephemeral === true ? undefined : { id, owner, activity: activityOf(state) },
      )
}

/** The conversations of this manager. */
export const heldOf = (inMemory: LoadedConversations): HeldConversations["Service"] => ({
  held: Effect.suspend(() =>
    Effect.map(Effect.forEach(Array.from(inMemory.all), held), (all) =>
      all.filter((one) => one !== undefined),
    ),
  ),
  release: (id) =>
    Effect.suspend(() => {
      const entry = Array.from(inMemory.all).find((one) => one.id === id)
      return entry === undefined ? Effect.void : inMemory.handOver(entry)
    }),
})
