/** `fuzzyFileSearch/sessionUpdate`: searches with a new query; the search with the one before ends. */
import {
  SearchSessionCompleted,
  type SearchSessionUpdate,
  SearchSessionUpdated,
} from "@colloquy/protocol/thread/FileSearch"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { type FoundFile, HostPort } from "../../../app/ports/HostPort.ts"
import { matchOf } from "../FileMatches.ts"
import type { HostHandler } from "../HostCall.ts"
import { noSearch } from "../HostErrors.ts"

/** Handler of the method. */
export const searchSessionUpdate: HostHandler<typeof SearchSessionUpdate> = Effect.fnUntraced(
  function* ({ query, sessionId }, { afterAnswer, host, peer }) {
    const session = host.searches.get(sessionId)
    if (session === undefined) return yield* noSearch(sessionId)
    if (session.running !== undefined) yield* Fiber.interrupt(session.running)
    const { searchFiles } = yield* HostPort
    const { roots } = session
    const searching: Effect.Effect<ReadonlyArray<FoundFile>> =
      query === ""
        ? Effect.succeed([])
        : Effect.catch(searchFiles({ query, roots, until: Effect.never }), ({ message }) =>
            Effect.as(Effect.logWarning(`search failed: ${message}`), []),
          )
    const answered = Deferred.makeUnsafe<void>()
    afterAnswer(Effect.asVoid(Deferred.succeed(answered, undefined)))
    const notifying = Effect.gen(function* () {
      const files = (yield* searching).map(matchOf)
      yield* Deferred.await(answered)
      yield* peer.notify(SearchSessionUpdated, [{ sessionId, query, files }])
      yield* peer.notify(SearchSessionCompleted, [{ sessionId }])
    }).pipe(Effect.catch(({ reason }) => Effect.logDebug(`the search ends: ${reason}`)))
    session.running = yield* Effect.forkIn(notifying, host.scope)
    return {}
  },
  (handling, _, { host }) => host.searchPermit.withPermit(handling),
)
