/**
 * Port: on whose behalf the holder of a bearer token acts. The default knows tokens by their SHA-256, so that neither a file
 * nor a dump of memory has them, and compares in a time that says nothing of how much of a token is right.
 */
import * as Context from "effect/Context"
import { WebCrypto } from "effect/crypto/WebCrypto"
import * as Effect from "effect/Effect"

/** A token that is known by its hash. */
export interface KnownToken {
  /** SHA-256 of the token's UTF-8, 64 hexadecimal digits in lower case. */
  readonly sha256: string
  readonly principal: string
}

/** Authenticates bearer tokens. */
export class Principals extends Context.Service<
  Principals,
  {
    /** The principal of a token; undefined for an unknown one. */
    readonly principalOf: (token: string) => Effect.Effect<string | undefined>
  }
>()("@colloquy/transport-http/Principals") {}

const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")

/** SHA-256 of a text as lower-case hexadecimal digits. */
export const sha256Of: (text: string) => Effect.Effect<string> = Effect.fnUntraced(
  function* (text) {
    const { subtle } = yield* WebCrypto
    const digest = yield* Effect.promise<ArrayBuffer>(() =>
      subtle.digest("SHA-256", new TextEncoder().encode(text)),
    )
    return hexOf(new Uint8Array(digest))
  },
)

/** Compares two texts of the same length in a time that depends on their length only. */
const isSame = (a: string, b: string): boolean => {
  let difference = a.length ^ b.length
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i)
  return difference === 0
}

/** Principals of these tokens. Every known token is compared, whichever one fits. */
export const fromTokens = (known: ReadonlyArray<KnownToken>): Principals["Service"] => ({
  principalOf: (token) =>
    Effect.map(sha256Of(token), (given) => {
      let found: string | undefined
      for (const { principal, sha256 } of known) if (isSame(given, sha256)) found = principal
      return found
    }),
})

/**
 * Reads a tokens file: one token a line, the SHA-256 in hexadecimal digits, a space, and the principal. Empty lines and those
 * that begin with `#` are skipped. Returns the number of the first line that is neither, from 1 on.
 */
export const parseTokens = (
  text: string,
): { readonly known: ReadonlyArray<KnownToken>; readonly badLine?: number } => {
  const known: Array<KnownToken> = []
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === "" || line.startsWith("#")) continue
    const match = /^([0-9a-fA-F]{64})[ \t]+(\S.*)$/.exec(line.trimEnd())
    const [, sha256, principal] = match ?? []
    if (sha256 === undefined || principal === undefined) return { known, badLine: index + 1 }
    known.push({ sha256: sha256.toLowerCase(), principal })
  }
  return { known }
}
