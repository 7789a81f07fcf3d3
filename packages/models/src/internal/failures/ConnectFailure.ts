/**
 * The error of a request without a response: refused, unresolvable, untrusted certificate, or
 * connection lost.
 */
import { ModelError } from "@colloquy/core/ModelClient"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { shownAddress } from "../Address.ts"
import { disconnected } from "./Failures.ts"

const code = Schema.decodeUnknownOption(Schema.Struct({ code: Schema.String }))
const cause = Schema.decodeUnknownOption(Schema.Struct({ cause: Schema.Unknown }))

// Only the code: messages of the platform may quote a header, and with it the API key.
const errorCode = (u: unknown, depth = 0): string | undefined =>
  Option.match(code(u), {
    onSome: (found) => found.code,
    onNone: () =>
      depth > 4
        ? undefined
        : Option.match(cause(u), {
            onNone: () => undefined,
            onSome: (inner) => errorCode(inner.cause, depth + 1),
          }),
  })

const tlsCode =
  /^(ERR_TLS_|ERR_SSL_|EPROTO$|CERT_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_|HOSTNAME_MISMATCH$|INVALID_(CA|PURPOSE)$)/

/** Explanations of failures that repeating the request within the same turn does not cure. */
const refusal = (code: string): string | undefined => {
  if (code === "ECONNREFUSED") return "connection refused"
  // The resolver has already repeated its query before it reports EAI_AGAIN.
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return "the host name cannot be resolved"
  return tlsCode.test(code) ? "the TLS connection failed" : undefined
}

/**
 * The error of a failed request. What prevents every request is reported immediately, with the
 * address; what may pass, such as a lost connection, may be repeated. The address is quoted without
 * user, query and fragment, which may contain an API key.
 */
export const unreachable = (address: string, error: unknown): ModelError => {
  const url = shownAddress(address)
  const found = errorCode(error)
  const refused = found === undefined ? undefined : refusal(found)
  return refused === undefined
    ? new ModelError({
        reason: "Transport",
        message: `${disconnected}error sending request for url (${url})${found === undefined ? "" : `: ${found}`}`,
        retryable: true,
      })
    : new ModelError({
        reason: "Transport",
        message: `cannot connect to the model provider at ${url}: ${refused} (${found})`,
        retryable: false,
      })
}
