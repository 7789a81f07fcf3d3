/** Finds the entry of a conversation by its id or by the address of its log. Loads no conversation. */
import { parseConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import {
  type ConversationUnavailable,
  type ManagerClosed,
  NoSuchConversation,
} from "../../ConversationErrors.ts"
import type { Access } from "../../ConversationManager.ts"
import type { ConversationStore, ConversationSummary, LogAddress } from "../../ConversationStore.ts"
import { withinStoreTimeout } from "../../store/StoreTimeout.ts"
import type { StoreError } from "../../StoreErrors.ts"
import { isVisible } from "../Access.ts"
import { absent, type Entry, makeEntry, stored } from "../Entry.ts"
import type { DirectoryParts } from "./DirectoryParts.ts"
import type { Entries } from "./Entries.ts"

type FindError = NoSuchConversation | ConversationUnavailable | ManagerClosed | StoreError

/** Why a caller does not find a conversation that this manager has; undefined where it does. */
const hiddenBecause = (
  entry: Entry,
  name: string,
  access: Access | undefined,
): NoSuchConversation | ConversationUnavailable | undefined => {
  if (!isVisible(entry, access)) return new NoSuchConversation({ id: name })
  if (!entry.isHidden) return undefined
  return entry.isArchiving ? absent(entry, false) : new NoSuchConversation({ id: name })
}

/** True where no caller with this access finds the conversation now, nor learns that it is archived. */
export const isMissing = (entry: Entry, access: Access | undefined): boolean =>
  hiddenBecause(entry, entry.id, access) instanceof NoSuchConversation

type Parts = Pick<DirectoryParts, "entries" | "shutdown" | "store">

/** Finds it by its id, in the store where this manager does not know it. */
export const findEntry = (
  parts: Parts,
  name: string,
  access: Access | undefined,
): Effect.Effect<Entry, FindError> =>
  Effect.suspend((): Effect.Effect<Entry, FindError> => {
    const entry = parts.entries.get(name)
    if (entry !== undefined) {
      const error = hiddenBecause(entry, name, access)
      return error === undefined ? Effect.succeed(entry) : Effect.fail(error)
    }
    const parsed = parseConversationId(name)
    return "problem" in parsed
      ? Effect.fail(new NoSuchConversation({ id: name }))
      : findStoredEntry(parts, name, { id: parsed.id }, access)
  })

/** Finds it for a caller that removes or archives it, while no other one does. */
export const findForEnd = (
  ...[parts, name, access]: Parameters<typeof findEntry>
): Effect.Effect<Entry, NoSuchConversation | ManagerClosed | StoreError> =>
  Effect.catchTag(
    findEntry(parts, name, access),
    "ConversationUnavailable",
    () => new NoSuchConversation({ id: name }),
  )

/** What the store records about a conversation that the caller may use. */
export const visibleMetadata = (
  store: ConversationStore["Service"],
  address: LogAddress,
  access: Access | undefined,
): Effect.Effect<ConversationSummary, NoSuchConversation | StoreError> =>
  Effect.filterOrFail(
    withinStoreTimeout("metadata", store.metadata(address)),
    ({ meta }) => isVisible(meta, access),
    () => new NoSuchConversation({ id: "id" in address ? address.id : address.path }),
  )

/** The entry of a conversation that is in the store; one that this manager does not know yet is made. */
export const entryOf = (
  entries: Entries,
  { archived, meta }: Pick<ConversationSummary, "archived" | "meta">,
): Entry => {
  const { id, owner } = meta
  const known = entries.get(id)
  if (known !== undefined) return known
  const entry = makeEntry(id, stored, owner)
  entries.set(id, entry)
  entries.setArchived(id, archived)
  return entry
}

/** Finds a conversation that is in the store and that this manager may not know yet. */
export const findStoredEntry = (
  { entries, shutdown, store }: Parts,
  name: string,
  address: LogAddress,
  access: Access | undefined,
): Effect.Effect<Entry, FindError> =>
  Effect.gen(function* () {
    const found = yield* withinStoreTimeout("metadata", store.metadata(address))
    yield* shutdown.checkOpen
    if (!isVisible(found.meta, access)) return yield* new NoSuchConversation({ id: name })
    const entry = entryOf(entries, found)
    const hidden = hiddenBecause(entry, name, access)
    if (hidden !== undefined) return yield* hidden
    if ("path" in address) entry.path = address.path
    return entry
  })
