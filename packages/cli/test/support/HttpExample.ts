import { createServer } from "node:http"
import * as AppServer from "@colloquy/server/AppServer"
import * as McpServer from "@colloquy/server/McpServer"
import { Auth } from "@colloquy/server/app/ports/AuthPort"
import { HostPort } from "@colloquy/server/app/ports/HostPort"
import { UserConfig } from "@colloquy/server/app/ports/UserConfigPort"
import { guarded, RouteTable } from "@colloquy/transport-http/guard/Guard"
import { Limits } from "@colloquy/transport-http/guard/Limits"
import { knownToken, Principals } from "@colloquy/transport-http/guard/Principals"
import * as McpRoutes from "@colloquy/transport-http/mcp/McpRoutes"
import * as PlainRoutes from "@colloquy/transport-http/v1/PlainRoutes"
import * as WebSocketRoute from "@colloquy/transport-http/ws/WebSocketRoute"
import { NodeHttpServer } from "@effect/platform-node"
import { Layer } from "effect"
import { HttpRouter } from "effect/http"

const routes = guarded(
  Layer.mergeAll(
    McpRoutes.layer(McpServer.serve),
    WebSocketRoute.layer("/ws", AppServer.serve),
    PlainRoutes.layer,
  ),
)

/** Serves the conversations of `Server` on a port of the loopback interface, to those who have the token. */
export const httpServer = (port: number, token: string) =>
  HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
    Layer.provide([Principals.layerTokens([knownToken(token, "local")]), Limits.layer()]),
    Layer.provide([RouteTable.layer, Auth.layerNone, HostPort.layerNone, UserConfig.layerNone]),
    Layer.provideMerge(
      NodeHttpServer.layer(() => createServer(), {
        host: "127.0.0.1",
        port,
        gracefulShutdownTimeout: "2 seconds",
        websocket: WebSocketRoute.serverOptions(),
      }),
    ),
  )
