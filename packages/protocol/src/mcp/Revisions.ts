/**
 * The revisions of the protocol and the names under `_meta` that the stateless one reserves. Facts of the specification
 * only; which method belongs to which revision is said where the method is defined.
 */

/** Revisions with an `initialize` handshake, newest first. */
export const handshakeVersions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const
export type HandshakeVersion = (typeof handshakeVersions)[number]

/** Revisions without one: each request says its own, newest first. */
export const statelessVersions = ["2026-07-28"] as const
export type StatelessVersion = (typeof statelessVersions)[number]

export type Revision = HandshakeVersion | StatelessVersion

/** All of them, newest first. */
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

/** Error codes of the stateless revision, beside those of JSON-RPC. */
export const StatelessErrorCode = {
  /** A header that HTTP copies from the body is absent or says another thing. */
  headerMismatch: -32020,
  /** `data.requiredCapabilities`: a capabilities object. */
  missingClientCapability: -32021,
  /** `data`: `{ supported, requested }`. */
  unsupportedProtocolVersion: -32022,
} as const
