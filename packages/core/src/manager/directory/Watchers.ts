/** The listeners for changes of the list of conversations. Each is called right after a change and must return at once. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Owner } from "../../ConversationStore.ts"

/** The listeners of one manager. */
export class Watchers {
  private readonly listeners = new Set<(owner: Owner) => void>()

  /** Adds a listener until the scope closes. It gets the owner of the conversation that was created, removed, renamed or moved. */
  watch(listener: (owner: Owner) => void): Effect.Effect<void, never, Scope.Scope> {
    return Effect.asVoid(
      Effect.acquireRelease(
        Effect.sync(() => this.listeners.add(listener)),
        () => Effect.sync(() => this.listeners.delete(listener)),
      ),
    )
  }

  /** Calls the listeners: a conversation of this owner, absent for the local user, was created, removed, renamed or moved. */
  notify({ owner = null }: { readonly owner?: Owner }): void {
    for (const listener of this.listeners) listener(owner)
  }
}
