/** The conversation store in one SQLite file, for the programs of one machine. */
import type { ConversationStore } from "@colloquy/core/ConversationStore"
import type { StoreError } from "@colloquy/core/StoreErrors"
import * as Layer from "effect/Layer"
import * as SqlStore from "../SqlStore.ts"
import type { SchemaTooNew } from "../SqlStoreErrors.ts"
import * as NodeProcesses from "./NodeProcesses.ts"
import * as SqliteClient from "./SqliteClient.ts"

/** Options of the store. */
export interface SqliteStoreOptions extends Omit<SqlStore.SqlStoreOptions, "processes"> {
  /** Path of the file, or `:memory:`. The file is created if there is none. */
  readonly file: string
  /** Base address of the plain API of this process, for clients that ask another one for its conversations. */
  readonly url?: () => string | undefined
}

/** Layer of the store. */
export const layer = ({
  file,
  url,
  ...options
}: SqliteStoreOptions): Layer.Layer<ConversationStore, StoreError | SchemaTooNew> =>
  SqlStore.layer({ ...options, processes: NodeProcesses.make(url) }).pipe(
    Layer.provide(SqlStore.clientLayer(SqliteClient.layer(file))),
  )
