/** The same two tools on Effect's server over HTTP. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as McpServer from "effect/ai/McpServer"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import { createServer } from "node:http"
import { effectServer } from "./EffectToolkit.ts"
import { tellPort } from "./HttpPeer.ts"

const main = HttpRouter.serve(McpServer.layerHttp({ ...effectServer, path: "/mcp" }), {
  disableLogger: true,
  disableListenLog: true,
}).pipe(
  Layer.provide(
    NodeHttpServer.layer(() => tellPort(createServer()), { port: 0, host: "127.0.0.1" }),
  ),
)

NodeRuntime.runMain(Layer.launch(main))
