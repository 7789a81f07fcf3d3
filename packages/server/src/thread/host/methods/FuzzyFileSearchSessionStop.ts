/** `fuzzyFileSearch/sessionStop`: ends a session of this connection. An unknown id counts as ended. */
import type { SearchSessionStop } from "@colloquy/protocol/thread/FileSearch"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { HostHandler } from "../HostCall.ts"

/** Handler of the method. */
export const searchSessionStop: HostHandler<typeof SearchSessionStop> = ({ sessionId }, { host }) =>
  host.searchPermit.withPermit(
    Effect.suspend(() => {
      const running = host.searches.get(sessionId)?.running
      host.searches.delete(sessionId)
      return running === undefined ? Effect.succeed({}) : Effect.as(Fiber.interrupt(running), {})
    }),
  )
