/** The edges of the rooms that the testing package may import. */
import type { Edge } from "../Edge.ts"

export const edges: ReadonlyArray<Edge> = []
