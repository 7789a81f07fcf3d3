/** The conversation store in a PostgreSQL database, for any number of programs and machines. */
import type { ConversationStore } from "@colloquy/core/ConversationStore"
import type { StoreError } from "@colloquy/core/StoreErrors"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Duration from "effect/Duration"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as SqlStore from "../SqlStore.ts"
import type { SchemaTooNew } from "../SqlStoreErrors.ts"
import * as NodeProcesses from "./NodeProcesses.ts"

/** Options of the store. */
export interface PostgresStoreOptions extends Omit<SqlStore.SqlStoreOptions, "processes"> {
  /** Address of the database as libpq writes it: `postgres://user:password@host:5432/database?sslmode=require`. */
  readonly database: Redacted.Redacted
  /** Most connections of this process. Default: 10. */
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

/** Layer of the store. */
export const layer = ({
  database,
  maxConnections = 10,
  url,
  ...options
}: PostgresStoreOptions): Layer.Layer<ConversationStore, StoreError | SchemaTooNew> =>
  SqlStore.layer({ ...options, processes: NodeProcesses.make(url) }).pipe(
    Layer.provide(
      SqlStore.clientLayer(
        PgClient.layer({
          url: database,
          applicationName: "colloquy",
          maxConnections,
          connectTimeout,
          keepAlive,
          maxMessageSize,
        }),
      ),
    ),
  )
