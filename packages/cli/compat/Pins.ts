/** The clients and the conformance suite (the referee), each in the one version with which the checks have passed. */
export const pins = {
  "@modelcontextprotocol/sdk": "1.32.2",
  "@modelcontextprotocol/client": "2.4.0",
  "@modelcontextprotocol/conformance": "0.2.0-alpha.12",
  "@modelcontextprotocol/inspector": "2.12.0",
  "@openai/agents": "0.20.0",
  "vscode-jsonrpc": "8.2.1",
  "@openai/codex-sdk": "0.163.0",
  "ai-sdk-provider-codex-cli": "2.2.1",
  "@agentclientprotocol/codex-acp": "2.6.0",
  "@ai-sdk/mcp": "2.0.99",
  "@langchain/mcp-adapters": "1.1.4",
  "@mastra/mcp": "2.0.0",
  mcporter: "0.12.3",
  "opencode-ai": "1.18.33",
  "@google/gemini-cli": "0.61.0",
  "@anthropic-ai/claude-code": "2.1.330",
  supergateway: "4.0.0",
  "mcp-proxy": "6.7.19",
  "mcp-remote": "0.15.1",
} as const

export type ClientName = keyof typeof pins

export const clientNames = Object.keys(pins) as ReadonlyArray<ClientName>

/** Peers that npm would otherwise choose itself, and packages that a user of the client installs beside it. */
const companions: Partial<Record<ClientName, Readonly<Record<string, string>>>> = {
  "ai-sdk-provider-codex-cli": { ai: "7.0.173", zod: "4.6.7" },
  "@agentclientprotocol/codex-acp": { acpx: "0.19.1" },
  "@ai-sdk/mcp": { ai: "7.0.173", zod: "4.6.7" },
  "@langchain/mcp-adapters": { "@langchain/core": "1.4.0", "@langchain/langgraph": "1.7.3" },
  "@mastra/mcp": { "@mastra/core": "1.71.0", zod: "4.6.7" },
}

/** Clients that would install the original program of each platform as well, which this program replaces. */
export const withoutOptional: ReadonlySet<ClientName> = new Set<ClientName>([
  "@agentclientprotocol/codex-acp",
  "@openai/codex-sdk",
  "ai-sdk-provider-codex-cli",
])

/** All packages that are installed into the client's folder, with exact versions. */
export const packagesOf = (client: ClientName): Readonly<Record<string, string>> => ({
  [client]: pins[client],
  ...companions[client],
})

/** The installed clients. */
export interface Installed {
  /** Has one folder for each client, by its name, with a `node_modules`. */
  readonly folder: string
  /** The clients that could not be installed, with npm's reason. */
  readonly missing: Partial<Record<ClientName, string>>
}

declare module "vitest" {
  interface ProvidedContext {
    readonly installed: Installed
  }
}
