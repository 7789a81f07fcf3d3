/** Combines the features of the embedding program, the server's own and the prompt files in the catalog of a connection. */
import * as Effect from "effect/Effect"
import { mergedCatalog } from "../../features/Catalog.ts"
import type { Server } from "../../Server.ts"
import type { ConnectionCatalog } from "./ConnectionCatalog.ts"
import { make as makeCursors } from "./Cursors.ts"
import { filePrompts } from "./FilePrompts.ts"
import { ownFeatures } from "./OwnFeatures.ts"

/** Large enough for clients that read only the first page. */
const defaultPageSize = 100

/**
 * Makes the catalog of one connection.
 *
 * @param pageSize items per page of a list, at least 1
 */
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
