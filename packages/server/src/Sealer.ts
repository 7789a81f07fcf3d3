/**
 * Port: what the server gives a client to keep and to bring back, such as the place in a list or the state of a call.
 * Nobody else can read, make or change it. The default key lives as long as the process.
 */
import * as Context from "effect/Context"
import { WebCrypto } from "effect/crypto/WebCrypto"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Layer from "effect/Layer"

interface Seals {
  /** What is sealed for one purpose opens for no other: a purpose names all that it is bound to. */
  readonly seal: (purpose: string, text: string) => Effect.Effect<string>
  /** Undefined for what was not sealed here, for this purpose. */
  readonly open: (purpose: string, sealed: string) => Effect.Effect<string | undefined>
}

/** AES-256-GCM: 96 bits that are never used twice, in front of the sealed text. */
const nonceBytes = 12
const tagBytes = 16

/** Longer ones are none of ours. In characters of base64url. */
const maxSealedLength = 1 << 20

const utf8 = new TextEncoder()
const text = new TextDecoder("utf-8", { fatal: true })

/** Owned bytes: the interface of the platform takes no view of shared ones. */
const owned = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => new Uint8Array(bytes)

const parametersOf = (purpose: string, iv: Uint8Array<ArrayBuffer>) => ({
  name: "AES-GCM",
  iv,
  additionalData: owned(utf8.encode(purpose)),
})

/** The bytes of a sealed text; undefined when it is too long, too short or no base64url. */
const sealedBytes = (given: string): Uint8Array<ArrayBuffer> | undefined => {
  if (given.length > maxSealedLength) return undefined
  const decoded = Base64Url.decode(given)
  return decoded._tag === "Failure" || decoded.success.length < nonceBytes + tagBytes
    ? undefined
    : owned(decoded.success)
}

const makeSealer: Effect.Effect<Seals> = Effect.gen(function* () {
  // Made with the first seal: few connections need one, and the platform loads its cipher when it is asked for it.
  const key = yield* Effect.cached(
    Effect.flatMap(WebCrypto, ({ subtle }) =>
      Effect.promise(() =>
        subtle.generateKey({ name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]),
      ),
    ),
  )
  const seal: Seals["seal"] = Effect.fnUntraced(function* (purpose, plain) {
    const crypto = yield* WebCrypto
    const secret = yield* key
    const nonce = crypto.getRandomValues(new Uint8Array(nonceBytes))
    const sealed = yield* Effect.promise<ArrayBuffer>(() =>
      crypto.subtle.encrypt(parametersOf(purpose, nonce), secret, owned(utf8.encode(plain))),
    )
    const bytes = new Uint8Array(nonceBytes + sealed.byteLength)
    bytes.set(nonce)
    bytes.set(new Uint8Array(sealed), nonceBytes)
    return Base64Url.encode(bytes)
  })
  const open: Seals["open"] = Effect.fnUntraced(function* (purpose, given) {
    const bytes = sealedBytes(given)
    if (bytes === undefined) return undefined
    const crypto = yield* WebCrypto
    const secret = yield* key
    const parameters = parametersOf(purpose, bytes.slice(0, nonceBytes))
    return yield* Effect.tryPromise<ArrayBuffer>(() =>
      crypto.subtle.decrypt(parameters, secret, bytes.slice(nonceBytes)),
    ).pipe(
      Effect.map((plain) => text.decode(plain)),
      // The one way in which decryption fails: it was sealed by somebody else, for something else, or changed.
      Effect.catch(() => Effect.undefined),
    )
  })
  return { seal, open }
})

/** Encrypts and authenticates texts that clients keep and send back. */
export class Sealer extends Context.Service<Sealer, Seals>()("@colloquy/server/Sealer") {
  /** With a key of its own. */
  static readonly make = makeSealer
  static readonly layer = Layer.effect(this, makeSealer)
}
