/**
 * The request `initialize`, with which a client of the handshake era agrees on a revision and on capabilities: its schemas
 * and its codec. Apart from the rest of the dialect, because it is served before anything else is loaded.
 */
import * as Schema from "effect/Schema"
import { lazyCodec, type MethodInfo } from "../MethodCodec.ts"
import { type HandshakeVersion, handshakeVersions } from "./Revisions.ts"

/** The revisions that `initialize` can agree on, newest first. */
export const protocolVersions = handshakeVersions
/** A revision that `initialize` can agree on. */
export type ProtocolVersion = HandshakeVersion

/** The offered revision if it is supported, else the newest one: MCP requires a counter-offer, not an error. */
export const negotiate = (offered: string): ProtocolVersion =>
  protocolVersions.find((version) => version === offered) ?? protocolVersions[0]

const Open = Schema.Record(Schema.String, Schema.Unknown)

const Implementation = Schema.Struct({
  name: Schema.String,
  title: Schema.optionalKey(Schema.String),
  version: Schema.String,
})

/** The client's side of the handshake. */
export const InitializeParams = Schema.Struct({
  protocolVersion: Schema.String,
  capabilities: Open,
  clientInfo: Implementation,
})
/** A decoded `InitializeParams`. */
export type InitializeParams = typeof InitializeParams.Type

/** The server's side of the handshake. */
export const InitializeResult = Schema.Struct({
  protocolVersion: Schema.String,
  capabilities: Open,
  serverInfo: Implementation,
  instructions: Schema.optionalKey(Schema.String),
})
/** A decoded `InitializeResult`. */
export type InitializeResult = typeof InitializeResult.Type

/** The name of the method. */
export const initializeMethod = "initialize"

/** What the definition of the method says besides its name and its schemas. */
export const initializeInfo = {
  since: "2024-11-05",
  until: "2026-07-28",
  cancellable: false,
  doc: "Agrees on a protocol revision and on capabilities. Sent once per connection.",
} satisfies Omit<MethodInfo, "kind">

/** The codec of the method. */
export const initializeCodec = lazyCodec(
  { kind: "request", ...initializeInfo },
  InitializeParams,
  InitializeResult,
)
