/**
 * The names under which the model sees the tools of servers (§6.7). A function of what the servers say.
 *
 * Owns what makes a name fit the providers' `^[a-zA-Z0-9_-]{1,64}$`; knows nothing of who answers to it.
 */
import * as Digest from "effect/crypto/Digest"
import * as Effect from "effect/Effect"

const maxLength = 64
const separator = "__"
/** One tool named otherwise would make the provider refuse every request of the conversation. */
const unfit = /[^a-zA-Z0-9_-]/g

/**
 * `{server}__{tool}`; longer than 64 it is cut and completed by the SHA-1 of the whole name to exactly 64. Characters
 * no provider takes read `_`.
 */
export const qualifiedName = Effect.fnUntraced(function* (server: string, tool: string) {
  const whole = `${server}${separator}${tool}`
  const fit = whole.replace(unfit, "_")
  if (fit.length <= maxLength) return fit
  const { digestHex } = yield* Digest.Digest
  const digest = yield* digestHex(Digest.sha1, new TextEncoder().encode(whole))
  return fit.slice(0, maxLength - digest.length) + digest
}, Effect.provide(Digest.layerWebCrypto))

/** A tool under the name the model calls it by. */
export interface Qualified<A> {
  readonly qualifiedName: string
  readonly server: string
  readonly tool: A
}

/**
 * The tools of all servers, sorted by name. Where two names meet, the tool of the server that sorts first stays, then
 * the one listed first (the original skips later duplicates).
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
