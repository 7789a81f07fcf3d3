/** `server/discover` (2026-07-28): responds with the stateless revisions and the capabilities of the server. */
import { statelessVersions } from "@colloquy/protocol/mcp/Revisions"
import * as Effect from "effect/Effect"
import type { Members } from "../RequestContext.ts"

/** The handler of `server/discover`. */
export const serverDiscover = (capabilities: () => Members) => () =>
  Effect.sync(() => ({ supportedVersions: [...statelessVersions], capabilities: capabilities() }))
