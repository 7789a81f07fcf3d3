/**
 * `resources/read`: responds with the contents of a resource. An unknown URI is an error with the code of the client's
 * revision.
 */
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { ResourcesRead as ResourcesReadMethod } from "@colloquy/protocol/mcp/Resources"
import type { Params, ResultOf } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import { findResource } from "../../features/Catalog.ts"
import type { CoreHandler, RequestContext } from "../RequestContext.ts"
import type { ConnectionCatalog } from "../catalog/ConnectionCatalog.ts"

type Method = typeof ResourcesReadMethod

/** The error code up to 2025-11-25; later revisions use invalid params instead. */
const notFoundCode = -32002

/** The error for an unknown URI. */
export const resourceNotFound = (uri: string, { era }: Pick<RequestContext, "era">): JsonRpcError =>
  new JsonRpcError({
    code: era === "handshake" ? notFoundCode : ErrorCode.invalidParams,
    message: "Resource not found",
    data: { uri },
  })

/** The handler of `resources/read` of one connection. */
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
    // An empty list of contents would look like an empty resource.
    if (contents.length === 0) return yield* resourceNotFound(uri, context)
    return { contents }
  })
