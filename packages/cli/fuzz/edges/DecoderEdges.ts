/** The edges of the decoders of the command and the tools, other than those of client frames. */
import type { Edge } from "@colloquy/simulation/fuzz/Edge"
import { authFiles, configFiles, configOverrides } from "./Configs.ts"
import { patchTexts } from "./Patches.ts"
import { environmentPatterns, images, toolServers } from "./ToolServers.ts"

/** All edges of this folder except the frame edges. */
export const decoderEdges: ReadonlyArray<Edge> = [
  configFiles,
  configOverrides,
  authFiles,
  patchTexts,
  toolServers,
  environmentPatterns,
  images,
]
