/** `fuzzyFileSearch`: a search with the token of a running one ends that one, which is answered with what it has found. */
import type { FuzzyFileSearch } from "@colloquy/protocol/app/Host"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { AppHandler } from "../AppCall.ts"
import { internal } from "../AppErrors.ts"
import { HostPort } from "../ports/HostPort.ts"

/** Handler of the method. */
export const fuzzyFileSearch: AppHandler<typeof FuzzyFileSearch> = Effect.fnUntraced(function* (
  { cancellationToken, query, roots },
  { connection: { searches } },
) {
  const host = yield* HostPort
  const stopped = Deferred.makeUnsafe<void>()
  if (typeof cancellationToken === "string") {
    const earlier = searches.get(cancellationToken)
    if (earlier !== undefined) Deferred.doneUnsafe(earlier, Effect.void)
    if (query === "") searches.delete(cancellationToken)
    else searches.set(cancellationToken, stopped)
  }
  if (query === "") return { files: [] }
  const search = host.searchFiles({ query, roots, until: Deferred.await(stopped) })
  return yield* search.pipe(
    Effect.map((files) => ({ files })),
    Effect.mapError(({ message }) => internal(`search failed: ${message}`)),
    Effect.ensuring(
      Effect.sync(() => {
        if (typeof cancellationToken !== "string") return
        if (searches.get(cancellationToken) === stopped) searches.delete(cancellationToken)
      }),
    ),
  )
})
