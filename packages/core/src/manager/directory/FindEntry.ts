/** Finds the entry of a conversation by its id or by the address of its log. Loads no conversation. */
import { parseConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import { type ManagerClosed, NoSuchConversation } from "../../ConversationErrors.ts"
import type { Access } from "../../ConversationManager.ts"
import type { LogAddress } from "../../ConversationStore.ts"
import { withinStoreTimeout } from "../../store/StoreTimeout.ts"
import type { StoreError } from "../../StoreErrors.ts"
import { isVisible } from "../Access.ts"
import { type Entry, makeEntry, stored } from "../Entry.ts"
import type { DirectoryParts } from "./DirectoryParts.ts"

type Parts = Pick<DirectoryParts, "entries" | "shutdown" | "store">

/** Finds it by its id, in the store where this manager does not know it. */
export const findEntry = (
  parts: Parts,
  name: string,
  access: Access | undefined,
): Effect.Effect<Entry, NoSuchConversation | ManagerClosed | StoreError> =>
  Effect.suspend(() => {
    const entry = parts.entries.get(name)
    if (entry !== undefined && !entry.isHidden && isVisible(entry, access)) {
      return Effect.succeed(entry)
    }
    const parsed = parseConversationId(name)
    return entry !== undefined || "problem" in parsed
      ? Effect.fail(new NoSuchConversation({ id: name }))
      : findStoredEntry(parts, name, { id: parsed.id }, access)
  })

/** Makes the entry of a conversation that is in the store and that this manager does not know yet. */
export const findStoredEntry = (
  { entries, shutdown, store }: Parts,
  name: string,
  address: LogAddress,
  access: Access | undefined,
): Effect.Effect<Entry, NoSuchConversation | ManagerClosed | StoreError> =>
  Effect.gen(function* () {
    const { meta } = yield* withinStoreTimeout("metadata", store.metadata(address))
    yield* shutdown.checkOpen
    const { id } = meta
    const entry = entries.get(id) ?? makeEntry(id, stored, meta.owner)
    if (entry.isHidden || !isVisible(entry, access)) {
      return yield* new NoSuchConversation({ id: name })
    }
    entries.set(id, entry)
    if ("path" in address) entry.path = address.path
    return entry
  })
