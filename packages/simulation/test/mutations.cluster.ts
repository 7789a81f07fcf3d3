/**
 * Faults that are injected into what the nodes of a cluster rely on: the fence of the store under its manager, the hand-over
 * of conversations, the repetition of calls, and the cursor of listeners that move.
 */
import type { Mutation } from "./mutations.ts"

/** Only the runs of a cluster: within some 190 of them, but for one. */
const ofCluster = { from: 9, step: 32 }

export const clusterMutations: ReadonlyArray<Mutation> = [
  {
    ...ofCluster,
    law: "L4",
    name: "a listener gets the last event again after its conversation has moved to another node",
    file: "packages/cluster/src/internal/ClusterListener.ts",
    find: "this.next = Math.max(this.next, delivery.event.seq + 1)",
    replace: "this.next = delivery.event.seq",
  },
  {
    ...ofCluster,
    law: "L4",
    name: "a listener misses what is recorded while its conversation moves",
    file: "packages/cluster/src/internal/ClusterListener.ts",
    find: "this.attach(this.next, true)",
    replace: "this.attach(undefined, true)",
  },
  {
    ...ofCluster,
    law: "L4",
    name: "a listener is ended by the node that gives its conversation up",
    file: "packages/cluster/src/internal/Moving.ts",
    find: "because instanceof LeaseLost ? new Elsewhere({ id }) : undefined",
    replace: "undefined",
  },
  {
    ...ofCluster,
    law: "L5",
    name: "a caller that runs a turn which was submitted before misses the end of one that is over",
    file: "packages/core/src/listeners/TurnRun.ts",
    find: "id !== undefined && mayHave(receipts, id)",
    replace: "false",
  },
  {
    ...ofCluster,
    law: "L10",
    name: "a node repeats a message whose receipt was lost under another id",
    file: "packages/cluster/src/internal/ClusterConversation.ts",
    find: "if (!isOwn) submission ??= key",
    replace: "if (!isOwn) submission = key",
  },
  {
    ...ofCluster,
    // Within some 900 runs: few forks lose their response.
    from: 20_393,
    law: "L10",
    name: "a fork that is asked for again after its response was lost makes another conversation",
    file: "packages/cluster/src/internal/OwnerCalls.ts",
    find: "id: isOther ? undefined : copy",
    replace: "id: undefined",
  },
  {
    ...ofCluster,
    law: "L10",
    name: "an archive that arrives late undoes what was acknowledged since",
    file: "packages/cluster/src/internal/EndConversation.ts",
    find: "defined({ access, revision })",
    replace: "defined({ access })",
  },
  {
    ...ofCluster,
    law: "L7",
    name: "a node that gives a conversation up withdraws its questions",
    file: "packages/core/src/manager/loaded/LoadedConversations.ts",
    find: "loaded.log.revoke()",
    replace: "void loaded.log",
  },
  {
    ...ofCluster,
    law: "L16",
    name: "a node of a cluster gets no generation of its own",
    file: "packages/store-sql/src/internal/Conversations.ts",
    find: "SET generation = generation + 1",
    replace: "SET generation = generation",
  },
]
