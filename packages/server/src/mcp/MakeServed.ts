/** What one connection serves: the embedder's features and the server's own, in one catalog. */
import type { ConversationManager } from "@colloquy/core/ConversationManager"
import * as Effect from "effect/Effect"
import { mergedCatalog } from "../features/Catalog.ts"
import type { Features } from "../features/Features.ts"
import type { Sealer } from "../Sealer.ts"
import { make as makeCursors } from "./Cursors.ts"
import { ownFeatures } from "./OwnFeatures.ts"
import type { Served } from "./Served.ts"

export interface ServedOptions {
  readonly features?: Features
  readonly pageSize?: number
}

/** Clients that read the first page alone should find what they need on it. */
const defaultPageSize = 100

export const makeServed = (
  { features, pageSize = defaultPageSize }: ServedOptions,
  manager: ConversationManager["Service"],
  sealer: Sealer["Service"],
): Effect.Effect<Served> =>
  Effect.map(ownFeatures(manager), (own) => ({
    catalog: mergedCatalog(
      features === undefined ? [own.catalog] : [features.catalog, own.catalog],
    ),
    cursors: makeCursors(sealer),
    pageSize: Math.max(1, pageSize),
    refreshPrompts: Effect.void,
  }))
