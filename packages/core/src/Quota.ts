/** How much of a process one owner may use, below the limits that all owners share. */
import type { Owner } from "./ConversationStore.ts"

/** The limits of one owner. What is absent is not limited. */
export interface Quota {
  /** Conversations that the owner has created or opened in this process and neither removed nor archived. */
  readonly maxConversations?: number
  /** Turns of the owner that run at once. */
  readonly maxTurns?: number
}

/** The quota of an owner now; undefined without one. Read at each use, so it may change while the process runs. */
export type QuotaOf = (owner: Owner) => Quota | undefined
