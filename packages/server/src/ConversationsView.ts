/**
 * The conversations of one principal: the only way in which handlers reach conversations. A conversation that another
 * principal owns is treated exactly as an unknown one, in results and in errors. Keeps no state.
 */
import type { Conversation } from "@colloquy/core/Conversation"
import type {
  Access,
  ConversationManager,
  ForkOptions,
  GetError,
  RemoveError,
  UnarchiveError,
} from "@colloquy/core/ConversationManager"
import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import type { LogAddress } from "@colloquy/core/ConversationStore"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { ownerOf } from "./internal/Owners.ts"

type Manager = ConversationManager["Service"]

/** The methods are those of `ConversationManager`, with its guarantees and errors. */
export class ConversationsView extends Context.Service<
  ConversationsView,
  {
    /** Creates a conversation that belongs to the principal. */
    readonly create: (settings: ConversationSettings) => ReturnType<Manager["create"]>
    /** Creates one that belongs to the principal, with its first submission. */
    readonly createOnSubmit: (
      settings: ConversationSettings,
    ) => ReturnType<Manager["createOnSubmit"]>
    /** Finds a conversation by its id, and loads it if necessary. */
    readonly get: (id: string) => Effect.Effect<Conversation, GetError>
    /** Like `get`, for a caller whose first call is `runTurn`. */
    readonly refer: (id: string) => Effect.Effect<Conversation, GetError>
    /** Finds a conversation by the path of its rollout file, archived or not, and loads it if necessary. */
    readonly open: (path: string) => Effect.Effect<Conversation, GetError>
    /** Attaches a listener to a conversation, in whichever process it is. */
    readonly follow: (
      id: string,
      options: Parameters<Manager["follow"]>[1],
    ) => ReturnType<Manager["follow"]>
    /** The current state of a conversation, in whichever process it is. */
    readonly stateOf: (id: string) => ReturnType<Manager["stateOf"]>
    /** One page of the principal's conversations, newest first. Loads nothing. */
    readonly list: (
      options?: Omit<NonNullable<Parameters<Manager["list"]>[0]>, "owner">,
    ) => ReturnType<Manager["list"]>
    /** What the store records about a conversation, archived or not. Loads nothing. */
    readonly metadata: (where: LogAddress) => ReturnType<Manager["metadata"]>
    /** The events of a conversation from this number on with their times, archived or not. Loads nothing. */
    readonly history: (id: string, from?: number) => ReturnType<Manager["history"]>
    /** Ends a conversation and deletes it from the store. */
    readonly remove: (id: string) => Effect.Effect<void, RemoveError>
    /** Ends a conversation and archives it. */
    readonly archive: (id: string) => Effect.Effect<void, RemoveError>
    /** Makes an archived conversation available again. */
    readonly unarchive: (id: string) => Effect.Effect<void, UnarchiveError>
    /** Names a conversation. */
    readonly rename: (id: string, name: string) => ReturnType<Manager["rename"]>
    /** Creates a conversation that begins with a copy of another one's events; both belong to the principal. */
    readonly fork: (
      id: string,
      rule: Parameters<Manager["fork"]>[1],
      options?: ForkOptions,
    ) => ReturnType<Manager["fork"]>
  }
>()("@colloquy/server/ConversationsView") {}

/**
 * The view of one principal. The local principal sees the conversations that have no owner recorded.
 *
 * @param confine makes the conversation that the principal gets; by default the same
 */
export const conversationsOf = (
  manager: Manager,
  principal: string,
  confine: (conversation: Conversation) => Conversation = (conversation) => conversation,
): ConversationsView["Service"] => {
  const access: Access = { owner: ownerOf(principal) }
  return {
    create: (settings) => Effect.map(manager.create(settings, access), confine),
    createOnSubmit: (settings) => Effect.map(manager.createOnSubmit(settings, access), confine),
    get: (id) => Effect.map(manager.get(id, access), confine),
    refer: (id) => Effect.map(manager.refer(id, access), confine),
    open: (path) => Effect.map(manager.open(path, access), confine),
    follow: (id, options) => manager.follow(id, options, access),
    stateOf: (id) => manager.stateOf(id, access),
    list: (options) => manager.list({ ...options, ...access }),
    metadata: (where) => manager.metadata(where, access),
    history: (id, from) => manager.history(id, access, from),
    remove: (id) => manager.remove(id, access),
    archive: (id) => manager.archive(id, access),
    unarchive: (id) => manager.unarchive(id, access),
    rename: (id, name) => manager.rename(id, name, access),
    fork: (id, rule, options) => Effect.map(manager.fork(id, rule, access, options), confine),
  }
}
