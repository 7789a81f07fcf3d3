/** `server/discover`: what the server speaks without a handshake, and does. */
import { statelessVersions } from "@colloquy/protocol/mcp/Revisions"
import * as Effect from "effect/Effect"
import type { Members } from "../RequestContext.ts"

export const serverDiscover = (capabilities: () => Members) => () =>
  Effect.sync(() => ({ supportedVersions: [...statelessVersions], capabilities: capabilities() }))
