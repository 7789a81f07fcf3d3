/** What Effect's HTTP server and router need for the same requests, without the protocol. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import { createServer } from "node:http"
import { respondTo } from "./FloorResponses.ts"
import { tellPort } from "./HttpPeer.ts"

const route = HttpRouter.add("POST", "/mcp", (request) =>
  Effect.map(request.text, (text) => {
    const { body, headers, status } = respondTo(text)
    return HttpServerResponse.text(body, { status, headers })
  }),
)

const main = HttpRouter.serve(route, { disableLogger: true, disableListenLog: true }).pipe(
  Layer.provide(
    NodeHttpServer.layer(() => tellPort(createServer()), { port: 0, host: "127.0.0.1" }),
  ),
)

NodeRuntime.runMain(Layer.launch(main))
