/** The same two tools on Effect's server. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeStdio from "@effect/platform-node/NodeStdio"
import * as McpServer from "effect/ai/McpServer"
import * as Layer from "effect/Layer"
import { effectServer } from "./EffectToolkit.ts"

const server = McpServer.layerStdio(effectServer).pipe(Layer.provide(NodeStdio.layer))

NodeRuntime.runMain(Layer.launch(server))
