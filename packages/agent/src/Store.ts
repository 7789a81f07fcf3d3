/** Where an agent keeps its conversations: in memory, in files, or in any `ConversationStore`. */
import { ConversationStore } from "@colloquy/core/ConversationStore"
import { MemoryStore } from "@colloquy/core/store/MemoryStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { checkOptions, is, named } from "./internal/Options.ts"

/** A layer of `ConversationStore`. */
export type Store<E = never, R = never> = Layer.Layer<ConversationStore, E, R>

/** A store in memory. Its conversations live as long as the value does, so every agent that gets it sees them. */
export const memory = (): Store => {
  const store = new MemoryStore()
  return Layer.succeed(ConversationStore, store)
}

/**
 * A store in files below this folder, one per conversation, which a new process resumes. One process at a time has a
 * conversation; `open` fails in another one meanwhile. A relative path is resolved against the working directory.
 */
export const files = (folder: string): Store => {
  checkOptions("Agent.files folder", named("the path of a folder"), folder)
  return Layer.unwrap(
    Effect.map(
      Effect.promise(() => import("@colloquy/store/node/NodeStore")),
      (NodeStore) => NodeStore.layer({ home: folder }),
    ),
  )
}

/** What a store is, before it is built. */
export const storeKind = is("a store, such as Agent.memory()", Layer.isLayer)

/** The errors of building the store. */
export type StoreErrors<S> = S extends Layer.Layer<infer _A, infer E, infer _R> ? E : never
/** The services that building the store needs. */
export type StoreServices<S> = S extends Layer.Layer<infer _A, infer _E, infer R> ? R : never
