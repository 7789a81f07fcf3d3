/**
 * The names under which the model sees the tools of servers. A function of what the servers list.
 *
 * Owns what makes a name fit the providers' `^[a-zA-Z0-9_-]{1,64}$`; knows nothing of how calls are run.
 */
import * as Digest from "effect/crypto/Digest"
import * as Effect from "effect/Effect"

const maxLength = 64
const separator = "__"
/** One tool with another character would make the provider refuse every request of the conversation. */
const unfit = /[^a-zA-Z0-9_-]/g

/**
 * `{server}__{tool}`. A name longer than 64 is cut and completed to exactly 64 by the SHA-1 of the whole name.
 * Characters that providers do not accept become `_`.
 */
export const qualifiedName = Effect.fnUntraced(function* (server: string, tool: string) {
  const whole = `${server}${separator}${tool}`
  const fit = whole.replace(unfit, "_")
  if (fit.length <= maxLength) return fit
  const { digestHex } = yield* Digest.Digest
  const digest = yield* digestHex(Digest.sha1, new TextEncoder().encode(whole))
  return fit.slice(0, maxLength - digest.length) + digest
}, Effect.provide(Digest.layerWebCrypto))

/** A tool with the name by which the model calls it. */
export interface Qualified<A> {
  /** Name for the model, unique among all tools. */
  readonly qualifiedName: string
  /** Name of the server, as configured. */
  readonly server: string
  readonly tool: A
}

/**
 * The tools of all servers, sorted by name. Of two tools with the same name, that of the server that sorts first is
 * kept, then the one listed first (the original skips later duplicates).
 */
export const qualifyAll = <A extends { readonly name: string }>(
  servers: ReadonlyArray<readonly [server: string, tools: ReadonlyArray<A>]>,
): Effect.Effect<ReadonlyArray<Qualified<A>>> =>
  Effect.gen(function* () {
    const byName = new Map<string, Qualified<A>>()
    for (const [server, tools] of servers.toSorted(([a], [b]) => (a < b ? -1 : 1))) {
      for (const tool of tools) {
        const name = yield* qualifiedName(server, tool.name)
        if (!byName.has(name)) byName.set(name, { qualifiedName: name, server, tool })
      }
    }
    return [...byName.values()].toSorted((a, b) => (a.qualifiedName < b.qualifiedName ? -1 : 1))
  })
