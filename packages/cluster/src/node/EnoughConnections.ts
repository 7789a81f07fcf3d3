/**
 * Whether the client of the database may make as many connections as a node needs at the same time. With fewer of them what
 * comes last waits for a connection that is never given back.
 */
import { PgClient } from "@effect/sql-pg/PgClient"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"

/** One keeps the locks of the shards, one gets the notifications, and one is for statements. */
const minConnections = 3

/** The client of the database may make fewer connections than a node needs. */
export class TooFewConnections extends Data.TaggedError("TooFewConnections")<{
  readonly maxConnections: number
}> {
  override get message() {
    return `a node needs at least ${minConnections} connections to the database, and its client may make ${this.maxConnections} (\`maxConnections\`)`
  }
}

/** Fails where they are too few. A client that is no pool has no such number. */
export const check: Effect.Effect<void, TooFewConnections, PgClient> = Effect.gen(function* () {
  const { config } = yield* PgClient
  const maxConnections = "maxConnections" in config ? config.maxConnections : undefined
  if (typeof maxConnections === "number" && maxConnections < minConnections) {
    return yield* new TooFewConnections({ maxConnections })
  }
})
