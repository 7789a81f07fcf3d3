/** The conversation store in a PostgreSQL database, for any number of programs and machines. */
import type { ConversationStore } from "@colloquy/core/ConversationStore"
import type { StoreError } from "@colloquy/core/StoreErrors"
import { defined } from "@colloquy/protocol/Defined"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Duration from "effect/Duration"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { storeError } from "../internal/SqlFaults.ts"
import * as SqlStore from "../SqlStore.ts"
import type { SchemaTooNew } from "../SqlStoreErrors.ts"
import * as NodeProcesses from "./NodeProcesses.ts"

/** Options of the store. */
export interface PostgresStoreOptions extends Omit<SqlStore.SqlStoreOptions, "processes"> {
  /** Address of the database as libpq writes it: `postgres://user:password@host:5432/database?sslmode=require`. */
  readonly database: Redacted.Redacted
  /** Most connections of this process. Default: 10. A node of a cluster needs at least 3. */
  readonly maxConnections?: number
  /** Base address of the plain API of this process, for clients that ask another one for its conversations. */
  readonly url?: () => string | undefined
}

/** Longest wait for a connection; shorter than an attempt of the store. */
const connectTimeout = Duration.seconds(3)

/** A connection whose server has vanished is found out after about as long again. */
const keepAlive = Duration.seconds(10)

/** As much as the largest record that rollout files have, with room for its encoding. */
const maxMessageSize = 256 * 1024 * 1024

/** Options of a client. */
export type PostgresClientOptions = Pick<PostgresStoreOptions, "database" | "maxConnections">

/** Layer of a client of the database, for the store and for others who use the same connections. */
export const clientLayer = ({
  database,
  maxConnections = 10,
}: PostgresClientOptions): Layer.Layer<PgClient.PgClient | SqlClient.SqlClient, StoreError> =>
  SqlStore.clientLayer(
    PgClient.layer({
      url: database,
      applicationName: "colloquy",
      maxConnections,
      connectTimeout,
      keepAlive,
      maxMessageSize,
    }),
  )

/** What an error of such a client means, without any value of a statement: for others who use it. */
export const errorOf = (error: SqlError): StoreError => storeError("open", error)

/** Layer of the store over a client. */
export const layerOver = ({
  url,
  ...options
}: Omit<PostgresStoreOptions, keyof PostgresClientOptions>): Layer.Layer<
  ConversationStore,
  StoreError | SchemaTooNew,
  SqlClient.SqlClient
> => SqlStore.layer({ ...options, processes: NodeProcesses.make(url) })

/** Layer of the store with a client of its own. */
export const layer = ({
  database,
  maxConnections,
  ...options
}: PostgresStoreOptions): Layer.Layer<ConversationStore, StoreError | SchemaTooNew> =>
  Layer.provide(layerOver(options), clientLayer({ database, ...defined({ maxConnections }) }))
