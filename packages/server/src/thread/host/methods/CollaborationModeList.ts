/** `collaborationMode/list`: the modes in which the agent works with the user. */
import type { CollaborationModeList } from "@colloquy/protocol/thread/Models"
import * as Effect from "effect/Effect"
import type { HostHandler } from "../HostCall.ts"

/** The mode's own model and effort: none, so that those of the thread stay. */
const own = { model: null, reasoning_effort: null }

/** Handler of the method. */
export const collaborationModeList: HostHandler<typeof CollaborationModeList> = () =>
  Effect.succeed({
    data: [
      { name: "Plan", mode: "plan", ...own },
      { name: "Default", mode: "default", ...own },
    ],
  })
