/** The edges of the packages that this package may import. */
import type { Edge } from "../Edge.ts"
import { promptFiles, uriTemplates } from "./FeatureTexts.ts"
import { histories } from "./Histories.ts"
import { jsonSchemas, jsonTexts } from "./JsonTexts.ts"
import { listCursors } from "./ListCursors.ts"
import { providerReplies } from "./ProviderReplies.ts"
import { providerStreams } from "./ProviderStreams.ts"
import { rollouts } from "./Rollouts.ts"

/** All edges of this package. */
export const edges: ReadonlyArray<Edge> = [
  ...providerStreams,
  providerReplies,
  rollouts,
  histories,
  listCursors,
  jsonTexts,
  jsonSchemas,
  promptFiles,
  uriTemplates,
]
