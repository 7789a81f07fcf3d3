/**
 * Loads another dialect besides MCP with the first request that MCP does not have. Most clients never use that dialect,
 * and loading it at the start would delay their response to `initialize`.
 */
import { describeFaults, faultsOf } from "@colloquy/protocol/Faults"
import { ErrorCode, JsonRpcError, type Request } from "@colloquy/protocol/JsonRpc"
import { CodexMcp } from "@colloquy/protocol/mcp/CodexMcp"
import { MetaKey } from "@colloquy/protocol/mcp/Revisions"
import { methodsOf } from "@colloquy/protocol/Method"
import { memberOf } from "@colloquy/protocol/NullAsAbsent"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import type { Server } from "./Server.ts"
import type { McpServerOptions } from "./McpServer.ts"
import { type FindDialect, unknownMethod } from "./jsonrpc/ForeignMethod.ts"
import { methodNotFound, type Route } from "./jsonrpc/Route.ts"

type Beside = NonNullable<McpServerOptions["beside"]>

type Find = (request: Request) => Route | undefined

/** True for a request that names its revision: only MCP has such requests. */
const isStateless = ({ params }: Request): boolean =>
  memberOf(memberOf(params, "_meta"), MetaKey.protocolVersion) !== undefined

const serve = (
  request: Request,
  find: Find,
  findDialect: FindDialect | undefined,
  ...[params, caller]: Parameters<Route["handler"]>
): Effect.Effect<unknown, JsonRpcError> => {
  const { method } = request
  const route = find(request)
  if (route === undefined) {
    const error = methodNotFound(method)
    return unknownMethod({ method, spoken: CodexMcp.name, find: findDialect, error })
  }
  const decoded = route.codec.decodeParams(params)
  if (Result.isFailure(decoded)) {
    const issues = faultsOf(decoded.failure)
    const fault = describeFaults("params", issues)
    return Effect.fail(
      route.badParams?.(fault, issues) ??
        new JsonRpcError({ code: ErrorCode.invalidParams, message: `Invalid params: ${fault}` }),
    )
  }
  return Effect.flatMap(route.handler(decoded.success, caller), (value) =>
    Effect.orDie(Effect.fromResult(route.codec.encodeResult(value))),
  )
}

/** Passes params and results through: the codec of the dialect is applied once the dialect is loaded. */
const asItCame: Route["codec"] = {
  info: { kind: "request", doc: "", since: "" },
  decodeParams: Result.succeed,
  encodeResult: Result.succeed,
}

/**
 * Serves another dialect besides MCP on one connection, and loads it when it is first used.
 *
 * @param load runs once per connection, with the first request that MCP does not have
 * @param findDialect names the dialect of a method that neither of the two has
 */
export const withLazyDialect = <R>(
  load: Effect.Effect<Beside, never, R>,
  findDialect?: FindDialect,
): Effect.Effect<Beside, never, R> =>
  Effect.map(
    Effect.context<R>(),
    (context): Beside =>
      (capabilities, peer) =>
        makeFind(
          Effect.flatMap(Effect.provideContext(load, context), (beside) =>
            beside(capabilities, peer),
          ),
          findDialect,
        ),
  )

const makeFind = Effect.fnUntraced(function* (
  load: Effect.Effect<Find, never, Server | Scope.Scope>,
  findDialect: FindDialect | undefined,
) {
  const services = yield* Effect.context<Server | Scope.Scope>()
  const known = methodsOf(CodexMcp.clientToServer)
  let there: Find | undefined
  const loaded = yield* Effect.cached(
    load.pipe(
      Effect.provideContext(services),
      Effect.tap((find) =>
        Effect.sync(() => {
          there = find
        }),
      ),
    ),
  )
  return (request: Request): Route | undefined => {
    if (known.has(request.method) || isStateless(request)) return undefined
    if (there !== undefined) return there(request)
    return {
      codec: asItCame,
      handler: (params, caller) =>
        // Loaded once: a cached effect starts anew when its only caller is interrupted.
        Effect.flatMap(Effect.uninterruptible(loaded), (find) =>
          serve(request, find, findDialect, params, caller),
        ),
    }
  }
})
