/** `resources/read`: what a resource holds; an address that leads nowhere is told with the code of the revision. */
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { ResourcesRead as ResourcesReadMethod } from "@colloquy/protocol/mcp/Resources"
import type { Params, ResultOf } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import { findResource } from "../../features/Catalog.ts"
import type { CoreHandler, RequestContext } from "../RequestContext.ts"
import type { ConnectionCatalog } from "../catalog/ConnectionCatalog.ts"

type Method = typeof ResourcesReadMethod

/** Up to 2025-11-25; later revisions have no code of its own. */
const notFoundCode = -32002

export const resourceNotFound = (uri: string, { era }: Pick<RequestContext, "era">): JsonRpcError =>
  new JsonRpcError({
    code: era === "handshake" ? notFoundCode : ErrorCode.invalidParams,
    message: "Resource not found",
    data: { uri },
  })

export const resourcesRead = ({
  catalog,
}: ConnectionCatalog): CoreHandler<Params<Method>, ResultOf<Method>> =>
  Effect.fnUntraced(function* ({ uri }, context) {
    const found = findResource(catalog, uri)
    if (found === undefined) return yield* resourceNotFound(uri, context)
    const contents = yield* found.resource
      .read({ uri, params: found.params, context })
      .pipe(
        Effect.catchTag("ResourceNotFound", (missing) =>
          Effect.fail(resourceNotFound(missing.uri, context)),
        ),
      )
    // No contents at all would read as an empty resource.
    if (contents.length === 0) return yield* resourceNotFound(uri, context)
    return { contents }
  })
