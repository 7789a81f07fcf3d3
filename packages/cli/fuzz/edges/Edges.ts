/** All edges, including those of packages that only the command may import: tools, transports, the command itself. */
import type { Edge } from "@colloquy/simulation/fuzz/Edge"
import { edges as testingEdges } from "@colloquy/simulation/fuzz/edges/Edges"
import { contracts } from "../../src/commands/Contracts.ts"
import { appServerFrames } from "./AppServerFrames.ts"
import { codexMcpFrames } from "./CodexMcpFrames.ts"
import { decoderEdges } from "./DecoderEdges.ts"
import { httpRequests } from "../http/HttpRequests.ts"
import { sseIds } from "../http/SseIds.ts"
import { webSocketFrames } from "../http/WebSocketFrames.ts"
import { toolServerFrames } from "./ToolServerFrames.ts"

/** All edges of the project. */
export const edges = (): ReadonlyArray<Edge> => {
  const all = contracts()
  const app = all.find(({ dialect }) => dialect === "app-server")
  const mcp = all.find(({ dialect }) => dialect === "codex-mcp")
  if (app === undefined || mcp === undefined) throw new Error("a dialect has no contract")
  return [
    ...codexMcpFrames(mcp, app),
    ...appServerFrames(app),
    ...httpRequests(),
    sseIds,
    webSocketFrames,
    toolServerFrames(mcp),
    ...decoderEdges,
    ...testingEdges,
  ]
}
