/**
 * The keys of the table `http`: how the server is reached over HTTP. Only a server that listens reads them, so their schema
 * is made at its first use.
 */
import { decode } from "@colloquy/config/ConfigSchema"
import type { ConfigFault } from "@colloquy/config/ConfigFault"
import type { ConfigTree } from "@colloquy/config/ConfigTree"
import { Count, key, keyOr, Strings, timerMs } from "@colloquy/config/KeySchemas"
import { once } from "@colloquy/protocol/Once"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

const Positive = Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))

/** What a browser sends as `Origin`: no path, no wildcard. */
const Origin = Schema.String.check(
  Schema.isPattern(/^[a-z][a-z\d+.-]*:\/\/[^/?#*\s]+$/iu, {
    expected: "an origin such as `https://app.example`, without a path",
  }),
)

/** Who reaches the server, and how. */
const access = () => ({
  hosts: keyOr(
    Strings,
    [],
    "Names of this server in `Host` besides those of the loopback interface and of the address that it listens on; with a port, or without one for every port.",
  ),
  origins: keyOr(
    Schema.Array(Origin),
    [],
    "Origins of web pages that may use the server, such as `https://app.example`; browsers let their pages read responses (CORS).",
  ),
  authentication: keyOr(
    Schema.Literals(["token", "none", "proxy"]),
    "token",
    "`token`: every request needs a bearer token. `none`: on the loopback interface only, every program of this machine is served. `proxy`: a proxy in front authenticates, and nobody else reaches the port.",
  ),
  public_url: key(
    Schema.String,
    "Address under which clients reach the plain API of this server, without `/v1`. Other servers with the same state directory send clients there that ask for its conversations. Default: the address that it listens on; none for `0.0.0.0`, `::` and behind a proxy.",
  ),
  tls_certificate: key(
    Schema.String,
    "File with the certificate of `https` and `wss`, and those of its issuers (PEM).",
  ),
  tls_key: key(Schema.String, "File with the private key of the certificate (PEM)."),
  tls_by_proxy: keyOr(
    Schema.Boolean,
    false,
    "True: a proxy in front encrypts, so that `http` and `ws` may listen beyond the loopback interface.",
  ),
})

/** Whose access tokens are accepted. */
const accessTokens = () => ({
  oauth_issuer: key(
    Schema.String,
    "Issuer whose OAuth 2.1 access tokens (JWTs) are accepted; each acts for a principal of its own, `oauth:` and its subject. Needs `oauth_resource`.",
  ),
  oauth_resource: key(
    Schema.String,
    "Address under which clients reach the server, such as `https://example.org/mcp`; the audience of access tokens.",
  ),
  oauth_audience: key(Schema.String, "Audience of access tokens, if it is not the resource."),
  oauth_scopes: keyOr(Strings, [], "Scopes that an access token must have, all of them."),
  oauth_jwks_uri: key(
    Schema.String,
    "Where the keys of the issuer are; by default what its metadata says.",
  ),
})

/** How much of it clients may use. */
const limits = () => ({
  max_body_bytes: keyOr(
    Positive,
    67_108_864,
    "Bytes of the largest body and of the largest WebSocket message; a larger one gets 413 or close code 1009.",
  ),
  max_connections: keyOr(Positive, 4096, "Connections at once; a further one gets 503."),
  max_requests: keyOr(
    Positive,
    4096,
    "Requests served at once, streams and WebSockets included; a further one gets 503.",
  ),
  max_principal_requests: keyOr(
    Positive,
    10_000,
    "Requests of one principal within ten seconds, at all nodes of a cluster together; a further one gets 429.",
  ),
  max_sessions: keyOr(Positive, 1024, "MCP sessions at once; a further one gets 503."),
  session_idle_ms: keyOr(
    Positive,
    1_800_000,
    "Milliseconds without a request and a stream after which an MCP session ends.",
  ),
  close_streams_after_ms: keyOr(
    Count,
    0,
    "Milliseconds after which the stream of an MCP request is closed, so that its client continues it with `Last-Event-ID`; 0: never.",
  ),
  header_timeout_ms: keyOr(
    timerMs(1),
    10_000,
    "Milliseconds in which the headers of a request have to arrive, at most 24 hours; a slower one gets 408.",
  ),
  request_timeout_ms: keyOr(
    timerMs(0),
    120_000,
    "Milliseconds in which a whole request has to arrive, at most 24 hours; a slower one gets 408. 0: no limit.",
  ),
})

/** Schema of the table. */
export const httpSchema = once(() => Schema.Struct({ ...access(), ...accessTokens(), ...limits() }))

/** The decoded keys; a key that is not set is absent. */
export type HttpOptions = ReturnType<typeof httpSchema>["Type"]

/** Decodes the table `http` of a configuration; fails with the first key that is not valid. */
export const httpOptions = (tree: ConfigTree): Result.Result<HttpOptions, ConfigFault> =>
  Result.map(
    decode(Schema.Struct({ http: Schema.optionalKey(httpSchema()) }), tree),
    ({ http = {} }) => http,
  )
