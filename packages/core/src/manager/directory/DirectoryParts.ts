/** What the modules of the directory share: data and services of one manager. */
import type { ConversationStore } from "../../ConversationStore.ts"
import type { IdGenerator } from "../../IdGenerator.ts"
import type { LoadedConversations } from "../loaded/LoadedConversations.ts"
import type { Storage } from "../Storage.ts"
import type { Entries } from "./Entries.ts"
import type { Shutdown } from "./Shutdown.ts"
import type { Watchers } from "./Watchers.ts"

/** See the header. */
export interface DirectoryParts {
  readonly maxConversations: number
  readonly ids: IdGenerator["Service"]
  readonly store: ConversationStore["Service"]
  readonly storage: Storage
  readonly inMemory: LoadedConversations
  /** Every conversation that this manager created or opened, by id. */
  readonly entries: Entries
  readonly shutdown: Shutdown
  readonly watchers: Watchers
}
