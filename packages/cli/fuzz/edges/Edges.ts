/** The edges of the rooms that only the command may import: tools, transports, the command itself. */
import type { Edge } from "@colloquy/testing/fuzz/Edge"
import { edges as testingEdges } from "@colloquy/testing/fuzz/edges/Edges"

/** All edges of the project. */
export const edges: ReadonlyArray<Edge> = [...testingEdges]
