/** Ids of new conversations such that the node that creates them owns them: a conversation runs where its client is. */
import { IdGenerator } from "@colloquy/core/IdGenerator"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import type { Nodes } from "../Nodes.ts"

/**
 * Ids that are tried: with a hundred nodes of equal size one of them is owned almost certainly. A node that owns next to
 * nothing creates its conversations all the same, and hands them over.
 */
const maxTries = 1000

/** Ids of the other generator that this node owns. */
export const ownedIds = (
  ids: IdGenerator["Service"],
  owns: Nodes["Service"]["owns"],
  tries = maxTries,
): IdGenerator["Service"] => {
  const next = (left: number): Effect.Effect<ConversationId> =>
    Effect.flatMap(ids.conversationId, (id) =>
      left === 0 || owns(id) ? Effect.succeed(id) : next(left - 1),
    )
  return { conversationId: Effect.suspend(() => next(tries)) }
}

/**
 * Ids that are tried for a copy: enough to find one in a certain shard of the default number of them, where the owners of the
 * others are not known.
 */
const maxCopyTries = 4000

/** An id for the copy of this conversation such that the node which makes it, the owner of the other one, owns it as well. */
export const copyId = (
  ids: IdGenerator["Service"],
  sameOwner: Nodes["Service"]["sameOwner"],
  id: ConversationId,
): Effect.Effect<ConversationId> =>
  ownedIds(ids, (copy) => sameOwner(copy, id), maxCopyTries).conversationId
