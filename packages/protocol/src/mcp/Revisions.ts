/**
 * The revisions of the Model Context Protocol, and the names under `_meta` that the stateless one reserves. Which method
 * belongs to which revision is a property of the method's definition.
 */

/** Revisions with an `initialize` handshake, newest first. */
export const handshakeVersions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const
/** A revision with a handshake. */
export type HandshakeVersion = (typeof handshakeVersions)[number]

/** Revisions without a handshake, in which every request names its revision, newest first. */
export const statelessVersions = ["2026-07-28"] as const
/** A revision without a handshake. */
export type StatelessVersion = (typeof statelessVersions)[number]

/** Any revision. */
export type Revision = HandshakeVersion | StatelessVersion

/** All revisions, newest first. */
export const revisions: ReadonlyArray<Revision> = [...statelessVersions, ...handshakeVersions]

/** Names in `_meta` of a request, and of a result or a notification, in the stateless revision. */
export const MetaKey = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  logLevel: "io.modelcontextprotocol/logLevel",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
} as const

/** Error codes of the stateless revision, in addition to those of JSON-RPC. */
export const StatelessErrorCode = {
  /** A header that HTTP copies from the body is absent or has another value. */
  headerMismatch: -32020,
  /** `data.requiredCapabilities`: a capabilities object. */
  missingClientCapability: -32021,
  /** `data`: `{ supported, requested }`. */
  unsupportedProtocolVersion: -32022,
} as const
