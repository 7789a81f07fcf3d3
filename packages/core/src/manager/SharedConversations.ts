/**
 * What works on a conversation in whichever process of the state directory it is. The log in the store tells about one
 * that another process has.
 */
import { type ConversationId, parseConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import {
  type AttachError,
  BadConversationName,
  holderOf,
  isUnwritable,
  ManagerClosed,
  maxConversationName,
  NoSuchConversation,
} from "../ConversationErrors.ts"
import type { Access, ConversationManager, GetError } from "../ConversationManager.ts"
import type { ConversationStore, Position, RecordPage } from "../ConversationStore.ts"
import type { State } from "../decider/State.ts"
import type { Listener } from "../listeners/Listener.ts"
import type { RecordOf } from "../LogRecord.ts"
import { withinStoreTimeout } from "../store/StoreTimeout.ts"
import type { StoreError } from "../StoreErrors.ts"
import type { FollowOptions } from "../listeners/Listeners.ts"
import type { ConversationDirectory } from "./directory/ConversationDirectory.ts"
import { follow } from "./FollowingListener.ts"
import type { Storage } from "./Storage.ts"

/** Records per page of a log: some hundreds of KiB. */
const pageSize = 1000

const idOf = (id: string): Effect.Effect<ConversationId, NoSuchConversation> => {
  const parsed = parseConversationId(id)
  return "problem" in parsed
    ? Effect.fail(new NoSuchConversation({ id }))
    : Effect.succeed(parsed.id)
}

/** The members of `ConversationManager` that do not load a conversation which another process has. */
export class SharedConversations {
  private readonly directory: ConversationDirectory
  private readonly store: ConversationStore["Service"]
  private readonly storage: Storage

  constructor(
    directory: ConversationDirectory,
    store: ConversationStore["Service"],
    storage: Storage,
  ) {
    this.directory = directory
    this.store = store
    this.storage = storage
  }

  follow(
    id: string,
    options: FollowOptions,
    access: Access | undefined,
  ): Effect.Effect<Listener, GetError | AttachError, Scope.Scope> {
    const { directory, store } = this
    return Effect.flatMap(idOf(id), (parsed) =>
      follow({ id: parsed, store, load: directory.get(id, access) }, options),
    )
  }

  /** The events of the log from this number on with their times, page by page. */
  history(
    id: string,
    access: Access | undefined,
    first = 0,
  ): Effect.Effect<ReadonlyArray<RecordOf<"Event">>, NoSuchConversation | StoreError> {
    return Effect.gen({ self: this }, function* () {
      const { meta } = yield* this.directory.metadata({ id: yield* idOf(id) }, access)
      const events: Array<RecordOf<"Event">> = []
      let from: Position | undefined =
        first === 0 ? 0 : yield* withinStoreTimeout("read", this.store.positionOf(meta.id, first))
      while (from !== undefined) {
        const page: RecordPage = yield* withinStoreTimeout(
          "read",
          this.store.read(meta.id, { from, max: pageSize }),
        )
        for (const record of page.records) if (record._tag === "Event") events.push(record)
        from = page.next
      }
      return events
    })
  }

  rename(
    id: string,
    given: string,
    access: Access | undefined,
  ): ReturnType<ConversationManager["Service"]["rename"]> {
    return Effect.gen({ self: this }, function* () {
      const name = given.replaceAll(/\s+/g, " ").trim().toWellFormed()
      if (name === "" || name.length > maxConversationName) {
        return yield* new BadConversationName({ length: name.length })
      }
      if (yield* this.directory.isClosed) return yield* new ManagerClosed()
      const { meta } = yield* this.directory.metadata({ id: yield* idOf(id) }, access)
      yield* withinStoreTimeout("rename", this.store.rename(meta.id, name))
      this.directory.watchers.notify(meta)
      return name
    })
  }

  stateOf(id: string, access: Access | undefined): Effect.Effect<State, GetError> {
    return this.directory.get(id, access).pipe(
      Effect.flatMap((conversation) => conversation.state),
      Effect.catchIf(
        (error) => holderOf(error) !== undefined || isUnwritable(error),
        () => this.recordedState(id, access),
      ),
    )
  }

  recordedState(id: string, access: Access | undefined): Effect.Effect<State, GetError> {
    return Effect.flatMap(idOf(id), (parsed) => this.storage.state({ id: parsed }, access))
  }
}
