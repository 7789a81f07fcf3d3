/**
 * The store of conversations in a database, loaded and connected at its first use. While the database cannot be reached every
 * use fails with that error, and the next one tries again: the server itself goes on.
 */
import { ConversationStore } from "@colloquy/core/ConversationStore"
import { StoreError } from "@colloquy/core/StoreErrors"
import type { SchemaTooNew } from "@colloquy/store-sql/SqlStoreErrors"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"

type Store = ConversationStore["Service"]

/** A layer of the store; it may fail to start. */
export type SqlStoreLayer = Layer.Layer<ConversationStore, StoreError | SchemaTooNew>

/** A use waits for 10 seconds, and the error of the start must come before. */
const startWithin = Duration.seconds(6)

/** Begins the value of the configuration that names a SQLite file. */
export const sqlitePrefix = "sqlite:"

/** True for a value of `conversation_store` that names a database. */
export const isDatabase = (value: string): boolean =>
  value.startsWith(sqlitePrefix) || /^postgres(?:ql)?:\/\//.test(value)

/** Loads the store that a value of the configuration names. */
const load =
  (database: string, url: (() => string | undefined) | undefined) =>
  async (): Promise<SqlStoreLayer> => {
    const options = { startWithin, ...(url === undefined ? {} : { url }) }
    if (database.startsWith(sqlitePrefix)) {
      const { layer } = await import("@colloquy/store-sql/node/SqliteStore")
      return layer({ file: database.slice(sqlitePrefix.length), ...options })
    }
    const { layer } = await import("@colloquy/store-sql/node/PostgresStore")
    return layer({ database: Redacted.make(database), ...options })
  }

const startError = (error: StoreError | SchemaTooNew): StoreError =>
  error._tag === "StoreError"
    ? error
    : new StoreError({ operation: "open", reason: "Other", message: error.message })

/** Starts the store once; after a failure the next use starts it again. */
const starting = (
  loadLayer: () => Promise<SqlStoreLayer>,
): Effect.Effect<Effect.Effect<Store, StoreError>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const turn = yield* Semaphore.make(1)
    let started: Store | undefined
    const start = Effect.gen(function* () {
      if (started !== undefined) return started
      const own = yield* Scope.fork(scope)
      const layer = yield* Effect.promise(loadLayer)
      const built = yield* Layer.buildWithScope(layer, own).pipe(
        Effect.mapError(startError),
        Effect.onError((cause) => Scope.close(own, Exit.failCause(cause))),
      )
      started = Context.get(built, ConversationStore)
      return started
    })
    return Effect.suspend(() =>
      started === undefined
        ? Effect.uninterruptible(turn.withPermit(start))
        : Effect.succeed(started),
    )
  })

const forwarding = (store: Effect.Effect<Store, StoreError>): Store => {
  const use = <A, E, R>(
    operation: StoreError["operation"],
    call: (store: Store) => Effect.Effect<A, E, R>,
  ): Effect.Effect<A, E | StoreError, R> =>
    store.pipe(
      Effect.mapError(({ message, reason }) => new StoreError({ operation, reason, message })),
      Effect.flatMap(call),
    )
  return {
    create: (meta, records) => use("create", (loaded) => loaded.create(meta, records)),
    open: (where) => use("open", (loaded) => loaded.open(where)),
    read: (id, page) => use("read", (loaded) => loaded.read(id, page)),
    readBackward: (id, page) => use("read", (loaded) => loaded.readBackward(id, page)),
    positionOf: (id, seq) => use("read", (loaded) => loaded.positionOf(id, seq)),
    list: (query) => use("list", (loaded) => loaded.list(query)),
    metadata: (where) => use("metadata", (loaded) => loaded.metadata(where)),
    archive: (...of) => use("archive", (loaded) => loaded.archive(...of)),
    unarchive: (...of) => use("unarchive", (loaded) => loaded.unarchive(...of)),
    rename: (id, name) => use("rename", (loaded) => loaded.rename(id, name)),
    delete: (...of) => use("delete", (loaded) => loaded.delete(...of)),
  }
}

/**
 * Layer of the store.
 *
 * @param database `postgres://…`, or `sqlite:` and the path of a file
 * @param loadLayer loads the store; a test replaces it
 */
export const layer = (
  database: string,
  url?: () => string | undefined,
  loadLayer: () => Promise<SqlStoreLayer> = load(database, url),
): Layer.Layer<ConversationStore> =>
  Layer.effect(ConversationStore, Effect.map(starting(loadLayer), forwarding))
