/** Pages of a manager's conversations, newest first. Pure. */
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Result from "effect/Result"
import { BadPageLimit } from "./ConversationErrors.ts"
import type { Entry } from "./ConversationManagerEntry.ts"
import { BadCursor, decode, encode } from "./Cursor.ts"

interface ConversationSummary {
  readonly id: ConversationId
  /** False when it is in the store and comes back at its next use. */
  readonly loaded: boolean
}

export interface ConversationPage {
  readonly items: ReadonlyArray<ConversationSummary>
  /** Where the next page begins; absent on the last. */
  readonly nextCursor?: string
}

export interface PageOptions {
  /** The `nextCursor` of an earlier page; default: the newest. */
  readonly cursor?: string
  /** 1 to 1,000; default 50. */
  readonly limit?: number
}

const maxLimit = 1000
const defaultLimit = 50

/** The first ordinal that is not on the page. */
const endOf = (
  entries: ReadonlyMap<string, Entry>,
  cursor: string | undefined,
): Result.Result<number, BadCursor> => {
  if (cursor === undefined) return Result.succeed(Number.POSITIVE_INFINITY)
  return Result.flatMap(decode(cursor), ({ id, ordinal }) => {
    // The conversation may be gone; one that lives stands where it stood, or the cursor is of another manager.
    const entry = entries.get(id)
    return entry === undefined || entry.ordinal === ordinal
      ? Result.succeed(ordinal)
      : Result.fail(new BadCursor())
  })
}

/** `entries` stand in the order of their ordinals. */
export const pageOf = (
  entries: ReadonlyMap<string, Entry>,
  { cursor, limit = defaultLimit }: PageOptions = {},
): Result.Result<ConversationPage, BadCursor | BadPageLimit> => {
  if (!Number.isInteger(limit) || limit < 1 || limit > maxLimit) {
    return Result.fail(new BadPageLimit({ limit, maxLimit }))
  }
  return Result.map(endOf(entries, cursor), (end) => {
    const listed = [...entries.values()].filter((e) => e.ordinal < end && !e.leaving)
    const page = listed.slice(-limit).toReversed()
    const last = page.at(-1)
    return {
      items: page.map(({ id, slot }) => ({ id, loaded: slot._tag === "Live" })),
      ...(last === undefined || listed.length === page.length ? {} : { nextCursor: encode(last) }),
    }
  })
}
