/** The edges of what the command and the tools decode, beside the frames of clients. */
import type { Edge } from "@colloquy/simulation/fuzz/Edge"
import { authFiles, configFiles, configOverrides } from "./Configs.ts"
import { patchTexts } from "./Patches.ts"
import { environmentPatterns, images, toolServers } from "./ToolServers.ts"

export const decoderEdges: ReadonlyArray<Edge> = [
  configFiles,
  configOverrides,
  authFiles,
  patchTexts,
  toolServers,
  environmentPatterns,
  images,
]
