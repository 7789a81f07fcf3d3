/**
 * Port: encrypts and authenticates the texts that a client keeps for the server and sends back, such as the position in
 * a list or the state of a call. No client can read, forge or change them. The default key is lost when the process
 * ends.
 */
import * as Context from "effect/Context"
import { WebCrypto } from "effect/crypto/WebCrypto"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Layer from "effect/Layer"

interface Seals {
  /** Seals a text for one purpose. It opens for no other: the purpose names everything that the text is bound to. */
  readonly seal: (purpose: string, text: string) => Effect.Effect<string>
  /** Opens a sealed text. Undefined if it was not sealed with this key for this purpose. */
  readonly open: (purpose: string, sealed: string) => Effect.Effect<string | undefined>
}

/** AES-256-GCM: a random nonce of 96 bits precedes the ciphertext, and a tag of 128 bits ends it. */
const nonceBytes = 12
const tagBytes = 16

/** Largest text that is opened, in characters of base64url. A longer one is treated as not sealed here. */
const maxSealedLength = 1 << 20

const utf8 = new TextEncoder()
const text = new TextDecoder("utf-8", { fatal: true })

/** Copies the bytes into a buffer that is not shared: the platform's interface accepts no other. */
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
  // Generated at the first use: few connections need a key, and the platform loads its cipher only then.
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
      // Decryption fails only if the text was sealed with another key, for another purpose, or was changed.
      Effect.catch(() => Effect.undefined),
    )
  })
  return { seal, open }
})

/** Encrypts and authenticates texts that clients keep and send back. */
export class Sealer extends Context.Service<Sealer, Seals>()("@colloquy/server/Sealer") {
  /** Creates a sealer with a new key. */
  static readonly make = makeSealer
  static readonly layer = Layer.effect(this, makeSealer)
}
