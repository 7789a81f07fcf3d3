/** Requests of the revision without a handshake. */
export const newest = "2026-07-28"

export const metaKey = {
  version: "io.modelcontextprotocol/protocolVersion",
  info: "io.modelcontextprotocol/clientInfo",
  capabilities: "io.modelcontextprotocol/clientCapabilities",
  logLevel: "io.modelcontextprotocol/logLevel",
} as const

export const statelessMeta = (
  capabilities: unknown = {},
  more: Readonly<Record<string, unknown>> = {},
) => ({
  [metaKey.version]: newest,
  [metaKey.capabilities]: capabilities,
  [metaKey.info]: { name: "test", version: "1" },
  ...more,
})

/** Params with the members that every request must have. */
export const saying = (
  params: Readonly<Record<string, unknown>> = {},
  capabilities: unknown = {},
  more: Readonly<Record<string, unknown>> = {},
) => ({ ...params, _meta: statelessMeta(capabilities, more) })

/** `_meta` of every result. */
export const madeBy = {
  "io.modelcontextprotocol/serverInfo": { name: "colloquy", title: "Colloquy", version: "0.0.0" },
}
