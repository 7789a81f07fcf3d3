/** The features that every server has by itself: the conversations of each principal as resources. */
import * as Effect from "effect/Effect"
import { type Features, make as makeFeatures } from "../../features/Features.ts"
import type { SharedState } from "../../Server.ts"
import { conversationTemplates } from "../conversation/ConversationResources.ts"

/** One for all connections of a server. Clients are notified when the list of their own conversations changes. */
export const ownFeatures: SharedState<Features> = {
  make: Effect.fnUntraced(function* ({ conversations, watchConversations }) {
    const features = yield* Effect.orDie(
      makeFeatures({ resourceTemplates: conversationTemplates(conversations) }),
    )
    const { changes } = features.catalog
    yield* watchConversations((principal) => changes.listChanged("resources", principal))
    return features
  }),
}
