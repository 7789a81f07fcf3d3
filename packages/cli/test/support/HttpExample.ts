import { createHash, timingSafeEqual } from "node:crypto"
import { createServer } from "node:http"
import * as AppServer from "@colloquy/server/AppServer"
import { Auth } from "@colloquy/server/app/ports/AuthPort"
import { HostPort } from "@colloquy/server/app/ports/HostPort"
import { UserConfig } from "@colloquy/server/app/ports/UserConfigPort"
import * as PlainRoutes from "@colloquy/transport-http/v1/PlainRoutes"
import * as WebSocketRoute from "@colloquy/transport-http/ws/WebSocketRoute"
import { NodeHttpServer } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"

const hash = (text: string) => createHash("sha256").update(text).digest()

/** Accepts requests with the token, from programs that address this machine by name or number, and from no web page. */
const guard = (token: string) =>
  HttpRouter.middleware(
    (app) =>
      Effect.gen(function* () {
        const { headers } = yield* HttpServerRequest.HttpServerRequest
        const { authorization = "", host = "", origin } = headers
        if (origin !== undefined || !/^(localhost|127\.0\.0\.1):\d+$/.test(host))
          return HttpServerResponse.empty({ status: 403 })
        if (!timingSafeEqual(hash(authorization), hash(`Bearer ${token}`)))
          return HttpServerResponse.empty({ status: 401 })
        return yield* app
      }),
    { global: true },
  )

const webSocket = HttpRouter.add(
  "GET",
  "/ws",
  WebSocketRoute.handle("local", (connection) => AppServer.serve(connection)),
)

/** Serves the conversations of `Server` on a port of the loopback interface. */
export const httpServer = (port: number, token: string) =>
  HttpRouter.serve(
    Layer.mergeAll(PlainRoutes.layer({ principalOf: () => "local" }), webSocket, guard(token)),
    { disableLogger: true, disableListenLog: true },
  ).pipe(
    Layer.provide([Auth.layerNone, HostPort.layerNone, UserConfig.layerNone]),
    Layer.provideMerge(
      NodeHttpServer.layer(() => createServer(), {
        host: "127.0.0.1",
        port,
        gracefulShutdownTimeout: "2 seconds",
        websocket: WebSocketRoute.serverOptions(),
      }),
    ),
  )
