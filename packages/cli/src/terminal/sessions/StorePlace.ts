/** A store of conversations by the name that a command line or `conversation_store` gives it. */
import { ConversationStore } from "@colloquy/core/ConversationStore"
import { StoreError } from "@colloquy/core/StoreErrors"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { expectedDatabase, isPostgres } from "../../args/Addresses.ts"
import { sqlitePrefix } from "../../lazy/LazySqlStore.ts"

const filesPrefix = "files:"

/** What is allowed, for an error. */
export const expectedPlaces = `\`files\`, \`files:DIRECTORY\`, \`sqlite:PATH\` or ${expectedDatabase}`

/** The name in full: of `files` that of its state directory. Undefined where it names no store that keeps anything. */
export const placeOf = (name: string, stateDirectory: string): string | undefined => {
  if (name === "files") return `${filesPrefix}${stateDirectory}`
  const named = [filesPrefix, sqlitePrefix].some(
    (prefix) => name.startsWith(prefix) && name !== prefix,
  )
  return named || isPostgres(name) ? name : undefined
}

const layerOf = async (place: string) => {
  if (place.startsWith(filesPrefix)) {
    const { layer } = await import("@colloquy/store/node/NodeStore")
    return layer({ home: place.slice(filesPrefix.length) })
  }
  if (place.startsWith(sqlitePrefix)) {
    const { layer } = await import("@colloquy/store-sql/node/SqliteStore")
    return layer({ file: place.slice(sqlitePrefix.length) })
  }
  const { layer } = await import("@colloquy/store-sql/node/PostgresStore")
  return layer({ database: Redacted.make(place) })
}

/**
 * Opens the store, until the scope closes. Fails when it cannot be reached.
 *
 * @param place what `placeOf` returned
 */
export const openStore = (
  place: string,
): Effect.Effect<ConversationStore["Service"], StoreError, Scope.Scope> =>
  Effect.promise(() => layerOf(place)).pipe(
    Effect.flatMap((layer) => Layer.build(Layer.fresh(layer))),
    Effect.map((built) => Context.get(built, ConversationStore)),
    Effect.mapError((error) =>
      error._tag === "StoreError"
        ? error
        : new StoreError({ operation: "open", reason: "Other", message: error.message }),
    ),
  )
