/** What one connection serves: the embedder's features, the server's own and the prompts of its files, in one catalog. */
import type { ConversationManager } from "@colloquy/core/ConversationManager"
import * as Effect from "effect/Effect"
import { mergedCatalog } from "../../features/Catalog.ts"
import type { Features } from "../../features/Features.ts"
import type { PromptFiles } from "../../features/PromptFiles.ts"
import type { Sealer } from "../../Sealer.ts"
import { make as makeCursors } from "./Cursors.ts"
import { filePrompts } from "./FilePrompts.ts"
import { ownFeatures } from "./OwnFeatures.ts"
import type { ConnectionCatalog } from "./ConnectionCatalog.ts"

export interface ServedOptions {
  readonly features?: Features
  readonly prompts?: PromptFiles
  readonly pageSize?: number
}

/** Clients that read the first page alone should find what they need on it. */
const defaultPageSize = 100

export const makeServed = (
  { features, pageSize = defaultPageSize, prompts }: ServedOptions,
  manager: ConversationManager["Service"],
  sealer: Sealer["Service"],
): Effect.Effect<ConnectionCatalog> =>
  Effect.gen(function* () {
    const own = yield* ownFeatures(manager)
    const files = prompts === undefined ? undefined : yield* filePrompts(prompts)
    const sources = [features, own, files?.features].flatMap((one) => one?.catalog ?? [])
    return {
      catalog: mergedCatalog(sources),
      cursors: makeCursors(sealer),
      pageSize: Math.max(1, pageSize),
      refreshPrompts: files?.refresh ?? Effect.void,
    }
  })
