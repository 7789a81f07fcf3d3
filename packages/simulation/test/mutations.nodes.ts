/**
 * Faults that are injected into what several nodes rely on: the fence of the store, the hand-over of turns and questions, and
 * the cursor of followers.
 */
import type { Mutation } from "./mutations.ts"

/** Only the runs of several nodes: within some 375 of them. Few have a node that is stopped longer than its lease. */
const ofNodes = { from: 9, step: 16 }

export const nodeMutations: ReadonlyArray<Mutation> = [
  {
    ...ofNodes,
    law: "L16",
    name: "the database does not check that the lease of a node is still valid",
    file: "packages/store-sql/src/internal/SqlWriter.ts",
    find: "WHERE h.token = ${token} AND h.until_ms > ${dialect.nowMs})",
    replace: "WHERE h.token = ${token} OR h.until_ms > ${dialect.nowMs})",
  },
  {
    ...ofNodes,
    law: "L16",
    name: "the database checks only the length of the log before a node appends",
    file: "packages/store-sql/src/internal/SqlWriter.ts",
    find: "AND generation = ${generation} AND holder = ${token} AND length = ${length}\n        AND EXISTS (",
    replace:
      "AND length = ${length}\n        OR log = ${log} AND length = ${length} AND NOT EXISTS (",
  },
  {
    ...ofNodes,
    law: "L16",
    name: "a node that takes a conversation over gets no generation of its own",
    file: "packages/store-sql/src/internal/Conversations.ts",
    find: "SET generation = generation + 1",
    replace: "SET generation = generation",
  },
  {
    ...ofNodes,
    from: 46_889,
    law: "L7",
    name: "a call that runs again has the id of the question about it",
    file: "packages/core/src/turn/ReplayedCalls.ts",
    find: "running.start(open.call, replay.attempt, replay.eventCallId)",
    replace: "running.start(open.call, replay.attempt, replay.eventCallId ?? eventCallIdOf(open))",
  },
  {
    ...ofNodes,
    law: "L4",
    name: "a node does not learn that it has lost its conversations",
    file: "packages/store-sql/src/internal/Holder.ts",
    find: "for (const { writer } of lost) writer.lose()",
    replace: "for (const { writer } of lost) void writer",
  },
  {
    ...ofNodes,
    law: "L10",
    name: "a node acknowledges what it appends after it lost its lease",
    file: "packages/store-sql/src/internal/SqlWriter.ts",
    find: "if (row.generation > generation) return Effect.fail(this.lost)",
    replace: "if (row.generation > generation) return Effect.void",
  },
  {
    ...ofNodes,
    law: "L11",
    name: "a node appends a part of a batch",
    file: "packages/store-sql/src/internal/RecordRows.ts",
    find: ": Effect.forEach(\n        records,",
    replace: ": Effect.forEach(\n        records.length > 2 ? records.slice(0, -1) : records,",
  },
  {
    ...ofNodes,
    law: "L10",
    name: "a node acknowledges before the commit",
    file: "packages/core/src/conversation/ConversationActor.ts",
    find: "onFailure: (error) => this.lose(writer, error),",
    replace: "onFailure: (error) => Effect.as(Effect.logDebug(error), true),",
  },
  {
    ...ofNodes,
    law: "L5",
    name: "a node does not close the turn that another one left",
    file: "packages/core/src/recovery/RecoverTurn.ts",
    find: 'turnEnded(current, turn.id, { _tag: "Interrupted" })',
    replace: "nothing(current)",
  },
  {
    ...ofNodes,
    law: "L7",
    name: "a node withdraws the question that another one asked",
    file: "packages/core/src/recovery/RecoverTurn.ts",
    find: "if (isParkable(state, left)) return park",
    replace: "if (isParkable(state, left) && nowMs < 0) return park",
  },
  {
    ...ofNodes,
    law: "L4",
    name: "a follower gets the last event again after its conversation has moved",
    file: "packages/core/src/manager/FollowingListener.ts",
    find: "this.next = delivery.event.seq + 1",
    replace: "this.next = delivery.event.seq",
  },
  {
    ...ofNodes,
    law: "L4",
    name: "a follower misses an event where its conversation comes to its node",
    file: "packages/core/src/manager/FollowingListener.ts",
    find: "conversation.attach({ from: next, answers })",
    replace: "conversation.attach({ from: next > 4 ? next + 1 : next, answers })",
  },
]
