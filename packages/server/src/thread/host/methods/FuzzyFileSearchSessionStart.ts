/** `fuzzyFileSearch/sessionStart`: starts a session of searches of this connection. */
import type { SearchSessionStart } from "@colloquy/protocol/thread/FileSearch"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { invalid } from "../../../app/AppErrors.ts"
import type { HostHandler } from "../HostCall.ts"

/** Sessions of one connection. */
const maxSessions = 64

/** Handler of the method. An id that is in use begins anew. */
export const searchSessionStart: HostHandler<typeof SearchSessionStart> = Effect.fnUntraced(
  function* ({ roots, sessionId }, { host: { searches } }) {
    if (sessionId === "") return yield* invalid("sessionId must not be empty")
    const earlier = searches.get(sessionId)
    if (earlier?.running !== undefined) yield* Fiber.interrupt(earlier.running)
    if (earlier === undefined && searches.size >= maxSessions) {
      return yield* invalid(`sessionId: expected at most ${maxSessions} sessions of a connection`)
    }
    searches.set(sessionId, { roots })
    return {}
  },
  (handling, _, { host }) => host.searchPermit.withPermit(handling),
)
