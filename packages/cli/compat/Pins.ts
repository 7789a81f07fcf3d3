/** What of others is driven, clients and the referee, each in the one version that the checks were seen to pass with. */
export const pins = {
  "@modelcontextprotocol/sdk": "1.32.2",
  "@modelcontextprotocol/client": "2.4.0",
  "@modelcontextprotocol/conformance": "0.2.0-alpha.12",
  "@modelcontextprotocol/inspector": "2.12.0",
  "@openai/agents": "0.20.0",
  "vscode-jsonrpc": "8.2.1",
} as const

export type ClientName = keyof typeof pins

export const clientNames = Object.keys(pins) as ReadonlyArray<ClientName>

/** Where they are. */
export interface Installed {
  /** Has a `node_modules`. */
  readonly folder: string
  /** Those that could not be installed, with npm's reason. */
  readonly missing: Partial<Record<ClientName, string>>
}

declare module "vitest" {
  interface ProvidedContext {
    readonly installed: Installed
  }
}
