/** Sends the texts of a server to the other nodes, as notices. */
import type { Broadcasts } from "@colloquy/core/Broadcasts"
import * as Effect from "effect/Effect"
import type { Notices } from "../Notices.ts"

/** The broadcasts of this node. */
export const noticeBroadcasts = (notices: Notices["Service"]): Effect.Effect<Broadcasts> =>
  Effect.map(Effect.context(), (context) => {
    const run = Effect.runForkWith(context)
    return {
      send: (owner, text) => void run(notices.send({ _tag: "Broadcast", owner, text })),
      watch: (listener) =>
        notices.watch((notice) => {
          if (notice._tag === "Broadcast") listener(notice.owner, notice.text)
        }),
    }
  })
