import * as McpServer from "@colloquy/server/McpServer"
import { guarded, RouteTable } from "@colloquy/transport-http/guard/Guard"
import { Limits } from "@colloquy/transport-http/guard/Limits"
import { knownToken, Principals } from "@colloquy/transport-http/guard/Principals"
import * as McpRoutes from "@colloquy/transport-http/mcp/McpRoutes"
import { Layer } from "effect"

/** Adds `/mcp` to the routes of an application, for those who have the token. */
export const mcp = (token: string) =>
  guarded(McpRoutes.layer(McpServer.serve)).pipe(
    Layer.provide([
      Principals.layerTokens([knownToken(token, "local")]),
      Limits.layer(),
      RouteTable.layer,
    ]),
  )
