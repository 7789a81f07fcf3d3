/** Several stores over one database, each as a process of its own has it. */
import { ConversationStore } from "@colloquy/core/ConversationStore"
import type { StoreError } from "@colloquy/core/StoreErrors"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import * as SqlStore from "../../src/SqlStore.ts"
import type { SchemaTooNew } from "../../src/SqlStoreErrors.ts"

/** One database. */
export interface World {
  /** A client of the database; every build is another connection. */
  readonly client: Layer.Layer<SqlClient.SqlClient, SqlError>
}

type Options = SqlStore.SqlStoreOptions & { readonly leaseFor?: Duration.Duration }

/** The layer of another process over the database. */
export const processOf = (
  { client }: World,
  options: Options = {},
): Layer.Layer<ConversationStore, StoreError | SchemaTooNew> =>
  Layer.fresh(SqlStore.layer(options).pipe(Layer.provide(SqlStore.clientLayer(client))))

/** The store of another process, which lives as long as the test. */
export const storeOf = (
  world: World,
  options: Options = {},
): Effect.Effect<ConversationStore["Service"], StoreError | SchemaTooNew, Scope.Scope> =>
  Effect.map(Layer.build(processOf(world, options)), (context) =>
    Context.get(context, ConversationStore),
  )

/** Runs statements against the database, beside the stores. */
export const withSql = <A, E>(
  { client }: World,
  use: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>,
): Effect.Effect<A, E | SqlError> =>
  Effect.flatMap(SqlClient.SqlClient, use).pipe(Effect.provide(Layer.fresh(client)))
