/** What a node has now: its shards and its conversations, for those who watch a cluster; and the metrics of it. */
import type { HeldConversation, HeldConversations } from "@colloquy/core/HeldConversations"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type { Nodes } from "./Nodes.ts"

/** What a node has. */
export interface NodeLoad {
  /** Number of its shards; 0 where conversations are spread without shards. */
  readonly shards: number
  /** Number of conversations in memory. */
  readonly conversations: number
  /** Number of those in which a turn runs. */
  readonly running: number
  /** Number of those in which a turn waits for the answer of a person. */
  readonly waiting: number
  /** Numbers of conversations in memory by shard, of those that have any. */
  readonly byShard: ReadonlyMap<number, number>
}

const countOf = (held: ReadonlyArray<HeldConversation>, activity: HeldConversation["activity"]) =>
  held.filter((one) => one.activity === activity).length

/** What the node has at this moment. */
export const nodeLoad = (
  { shards }: Pick<Nodes["Service"], "shards">,
  { held }: HeldConversations["Service"],
): Effect.Effect<NodeLoad> =>
  Effect.map(held, (all) => {
    const byShard = new Map<number, number>()
    for (const { id } of shards === undefined ? [] : all) {
      const shard = shards?.of(id) ?? 0
      byShard.set(shard, (byShard.get(shard) ?? 0) + 1)
    }
    return {
      shards: shards?.owned() ?? 0,
      conversations: all.length,
      running: countOf(all, "running"),
      waiting: countOf(all, "waiting"),
      byShard,
    }
  })

const shardCount = Metric.gauge("colloquy.cluster.shards", {
  description: "Shards of the cluster that the node has.",
})

const conversationCount = Metric.gauge("colloquy.cluster.conversations", {
  description: "Conversations that the node has in memory, by shard.",
})

/** Sets the metrics of a node, one load after another: a shard without conversations any more has 0. */
export const measure = (node: string): ((load: NodeLoad) => Effect.Effect<void>) => {
  const measured = new Set<number>()
  const shards = Metric.withAttributes(shardCount, { node })
  return (load) =>
    Effect.gen(function* () {
      yield* Metric.update(shards, load.shards)
      for (const shard of load.byShard.keys()) measured.add(shard)
      for (const shard of measured) {
        const conversations = Metric.withAttributes(conversationCount, {
          node,
          shard: String(shard),
        })
        yield* Metric.update(conversations, load.byShard.get(shard) ?? 0)
      }
    })
}
