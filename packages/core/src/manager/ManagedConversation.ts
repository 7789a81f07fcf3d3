/**
 * The conversation that the manager gives to its callers. Each call loads the conversation if needed, so a caller does
 * not notice when it is evicted in between. Costs three references while the conversation is not in memory.
 */
import type { ConversationId, SubmissionId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import type { Conversation } from "../Conversation.ts"
import { ConversationClosed } from "../ConversationErrors.ts"
import { attachedEvents } from "../listeners/Listener.ts"
import { runTurn } from "../listeners/TurnRun.ts"
import type { Entry } from "./Entry.ts"
import type { LoadedConversations } from "./loaded/LoadedConversations.ts"

/** A conversation that is loaded by each call that needs it. The members are those of `Conversation`. */
export class ManagedConversation implements Conversation {
  readonly id: ConversationId
  private readonly entry: Entry
  private readonly conversations: LoadedConversations

  constructor(entry: Entry, conversations: LoadedConversations) {
    this.id = entry.id
    this.entry = entry
    this.conversations = conversations
  }

  submit(...args: Parameters<Conversation["submit"]>): ReturnType<Conversation["submit"]> {
    return this.conversations.use(this.entry, (conversation) => conversation.submit(...args))
  }

  runTurn(
    ...[op, options]: Parameters<Conversation["runTurn"]>
  ): ReturnType<Conversation["runTurn"]> {
    return runTurn(this, this.submit(op, options), options?.id)
  }

  /** Loads nothing: nothing runs in a conversation that is not in memory. */
  cancel(id: SubmissionId): Effect.Effect<void> {
    return Effect.flatMap(this.conversations.settled(this.entry), (placement) =>
      "loaded" in placement && placement.loaded !== undefined
        ? placement.loaded.conversation.cancel(id)
        : Effect.void,
    )
  }

  attach(...args: Parameters<Conversation["attach"]>): ReturnType<Conversation["attach"]> {
    // The idle time starts when the listener detaches.
    return Effect.flatMap(Effect.scope, (scope) =>
      Effect.andThen(
        Scope.addFinalizer(scope, this.conversations.touch(this.entry)),
        this.conversations.use(this.entry, (conversation) => conversation.attach(...args)),
      ),
    )
  }

  events(...[options]: Parameters<Conversation["events"]>): ReturnType<Conversation["events"]> {
    return attachedEvents(this, options)
  }

  get loaded(): Conversation["loaded"] {
    return this.untilLoaded()
  }

  private untilLoaded(): Conversation["loaded"] {
    return Effect.suspend(() => {
      const { placement } = this.entry
      if (placement._tag === "Removed") return Effect.fail(new ConversationClosed())
      if (placement._tag === "Loaded" && !placement.loaded.conversation.isOver) return Effect.void
      return Effect.andThen(this.moved(), this.untilLoaded())
    })
  }

  /** Resolves when the conversation was loaded or removed. */
  private moved(): Effect.Effect<void> {
    return Effect.callback((resume) => {
      const waiting = (this.entry.onMoved ??= new Set())
      const notify = () => resume(Effect.yieldNow)
      waiting.add(notify)
      return Effect.sync(() => waiting.delete(notify))
    })
  }

  get state(): Conversation["state"] {
    return this.conversations.use(this.entry, (conversation) => conversation.state)
  }
}
