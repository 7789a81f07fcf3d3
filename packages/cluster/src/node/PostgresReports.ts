/**
 * What the nodes of a cluster say of themselves in its database: each has a row, which it renews every second and removes
 * when it ends. Whoever looks after a cluster reads them; no node decides anything by them.
 */
import { HeldConversations } from "@colloquy/core/HeldConversations"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { boundedLayer } from "../BoundedEnd.ts"
import { measure, type NodeLoad, nodeLoad } from "../NodeLoad.ts"
import { Nodes } from "../Nodes.ts"
import { NodeRow, reportEvery, silentMs } from "./NodeRows.ts"

/** What a node said of itself last. */
export interface NodeReport extends Omit<NodeLoad, "byShard"> {
  /** Address by which the other nodes reach it. */
  readonly node: string
  /** Milliseconds since it said so. */
  readonly ageMs: number
  /** True if that is so short that the node can be expected to live. */
  readonly lives: boolean
}

/** Rows of nodes that ended without removing theirs are kept so long. */
const forgottenMs = 3_600_000

const reporting = Effect.fnUntraced(function* (onTaken: Effect.Effect<void>) {
  const sql = yield* SqlClient.SqlClient
  const nodes = yield* Nodes
  const held = yield* HeldConversations
  const row = yield* NodeRow
  yield* sql`DELETE FROM colloquy_nodes WHERE at < clock_timestamp() - ${forgottenMs} * interval '1 millisecond'`
  const set = measure(nodes.self)
  yield* nodeLoad(nodes, held).pipe(
    Effect.tap(set),
    Effect.flatMap(row.renew),
    Effect.flatMap((isOwn) => (isOwn ? Effect.void : onTaken)),
    // While the database cannot be reached no report can be written; the next one replaces it.
    Effect.catch((error) => Effect.logDebug("the node's report was not written", error)),
    Effect.repeat(Schedule.spaced(reportEvery)),
    Effect.forkScoped,
  )
})

/** A report that the database does not respond to delays the end of the node by this. */
const ending = { name: "the reports of this node", within: "1 second" } as const

/**
 * Reports what this node has, and sets its metrics, for as long as the layer lives. `PostgresNodes` prepares the table.
 *
 * @param onTaken runs where another process has taken over the address of this node, which did not report for a while: all
 *   that the cluster sends here arrives there, so that this process has to end
 */
export const layer = (
  onTaken: Effect.Effect<void>,
): Layer.Layer<never, SqlError, Nodes | NodeRow | HeldConversations | SqlClient.SqlClient> =>
  boundedLayer(Layer.effectDiscard(reporting(onTaken)), ending)

/** The connection names no schema that exists, so that there is no cluster. */
export class SchemaMissing extends Data.TaggedError("SchemaMissing")<{
  /** The schemas that the connection names. */
  readonly searchPath: string
}> {
  override get message() {
    return `there is no schema \`${this.searchPath}\` (\`search_path\`)`
  }
}

/** What the nodes of the cluster said last, by their names. None where there never was one. */
export const reports: Effect.Effect<
  ReadonlyArray<NodeReport>,
  SqlError | SchemaMissing,
  SqlClient.SqlClient
> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [found] = yield* sql<{
    readonly exists: boolean
    readonly schema: string | null
    readonly path: string
  }>`SELECT to_regclass('colloquy_nodes') IS NOT NULL AS exists, current_schema() AS schema,
    current_setting('search_path') AS path`
  if (found?.schema === null) return yield* new SchemaMissing({ searchPath: found.path })
  if (found?.exists !== true) return []
  const rows = yield* sql<Omit<NodeReport, "ageMs" | "lives"> & { readonly age: number }>`
    SELECT node, shards, conversations, running, waiting,
      (extract(epoch FROM clock_timestamp() - at) * 1000)::float8 AS age
    FROM colloquy_nodes ORDER BY node`
  return rows.map(({ age, ...row }) => {
    const ageMs = Math.max(0, Math.round(age))
    return { ...row, ageMs, lives: ageMs < silentMs }
  })
})
