/** What one connection serves: the embedding program's features, the server's own and its file prompts, in one catalog. */
import * as Effect from "effect/Effect"
import { mergedCatalog } from "../../features/Catalog.ts"
import type { Server } from "../../Server.ts"
import type { ConnectionCatalog } from "./ConnectionCatalog.ts"
import { make as makeCursors } from "./Cursors.ts"
import { filePrompts } from "./FilePrompts.ts"
import { ownFeatures } from "./OwnFeatures.ts"

/** Clients that read the first page alone should find what they need on it. */
const defaultPageSize = 100

/** @param pageSize items of one page of a list, at least 1 */
export const makeConnectionCatalog = (
  server: Server["Service"],
  pageSize: number = defaultPageSize,
): Effect.Effect<ConnectionCatalog> =>
  Effect.gen(function* () {
    const own = yield* server.shared(ownFeatures)
    const files = yield* server.shared(filePrompts)
    const sources = [server.features, own, files?.features].flatMap((one) => one?.catalog ?? [])
    return {
      catalog: mergedCatalog(sources),
      cursors: makeCursors(server.sealer),
      pageSize: Math.max(1, pageSize),
      refreshPrompts: files?.refresh ?? Effect.void,
    }
  })
