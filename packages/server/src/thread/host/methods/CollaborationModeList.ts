/** `collaborationMode/list`: the modes in which the agent works with the user; this program has the default one. */
import type { CollaborationModeList } from "@colloquy/protocol/thread/Models"
import * as Effect from "effect/Effect"
import type { HostHandler } from "../HostCall.ts"

/** Handler of the method. */
export const collaborationModeList: HostHandler<typeof CollaborationModeList> = () =>
  Effect.succeed({
    data: [{ name: "Default", mode: "default", model: null, reasoning_effort: null }],
  })
