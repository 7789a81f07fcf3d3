/** What the server offers by itself, once per process: its conversations as resources, and the prompts of its files. */
import type { ConversationManager } from "@colloquy/core/ConversationManager"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { type Features, make as makeFeatures } from "../../features/Features.ts"
import { conversationTemplates } from "../conversation/ConversationResources.ts"

type Manager = ConversationManager["Service"]

const make = Effect.fnUntraced(function* (manager: Manager) {
  const features = yield* Effect.orDie(
    makeFeatures({ resourceTemplates: conversationTemplates(manager) }),
  )
  // As long as the manager: there is nothing to end before it.
  const { notices } = features.catalog
  yield* manager
    .watch(() => notices.listChanged("resources"))
    .pipe(Scope.provide(yield* Scope.make()))
  return features
})

const known = new WeakMap<Manager, Features>()

/** Those of the manager's conversations: connections share them as they share the manager. */
export const ownFeatures = (manager: Manager): Effect.Effect<Features> =>
  Effect.suspend(() => {
    const features = known.get(manager)
    if (features !== undefined) return Effect.succeed(features)
    return Effect.tap(make(manager), (made) => Effect.sync(() => known.set(manager, made)))
  })
