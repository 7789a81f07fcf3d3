/**
 * What the manager gives out: a conversation that is loaded when it is used, so that whoever holds it never notices
 * where it is. Costs next to nothing while the conversation is not in memory.
 */
import type { ConversationId, SubmissionId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import type { Conversation } from "../Conversation.ts"
import { ConversationClosed } from "../ConversationErrors.ts"
import type { Entry } from "./Entry.ts"
import type { LoadedConversations } from "./LoadedConversations.ts"

export class ManagedConversation implements Conversation {
  readonly id: ConversationId
  private readonly entry: Entry
  private readonly residents: LoadedConversations

  constructor(entry: Entry, residents: LoadedConversations) {
    this.id = entry.id
    this.entry = entry
    this.residents = residents
  }

  submit(...args: Parameters<Conversation["submit"]>): ReturnType<Conversation["submit"]> {
    return this.residents.using(this.entry, (conversation) => conversation.submit(...args))
  }

  cancel(id: SubmissionId): Effect.Effect<void> {
    // Nothing runs in a conversation that is not in memory.
    return Effect.flatMap(this.residents.settled(this.entry), (slot) =>
      "live" in slot && slot.live !== undefined ? slot.live.conversation.cancel(id) : Effect.void,
    )
  }

  attach(...args: Parameters<Conversation["attach"]>): ReturnType<Conversation["attach"]> {
    // The time of idleness begins when the listener leaves.
    return Effect.andThen(
      Effect.addFinalizer(() => this.residents.touch(this.entry)),
      this.residents.using(this.entry, (conversation) => conversation.attach(...args)),
    )
  }

  get loaded(): Conversation["loaded"] {
    return this.untilLoaded()
  }

  private untilLoaded(): Conversation["loaded"] {
    return Effect.suspend(() => {
      const { placement } = this.entry
      if (placement._tag === "Gone") return Effect.fail(new ConversationClosed())
      if (placement._tag === "Live" && !placement.live.conversation.isOver) return Effect.void
      return Effect.andThen(this.moved(), this.untilLoaded())
    })
  }

  /** Resolves when the conversation was loaded, or is gone. */
  private moved(): Effect.Effect<void> {
    return Effect.callback((resume) => {
      const watchers = (this.entry.onMoved ??= new Set())
      const wake = () => resume(Effect.yieldNow)
      watchers.add(wake)
      return Effect.sync(() => watchers.delete(wake))
    })
  }

  get state(): Conversation["state"] {
    return this.residents.using(this.entry, (conversation) => conversation.state)
  }
}
