/**
 * This client's side of the handshake, and the adaptation of a server's answers before `McpClient` decodes them. Pure.
 *
 * `McpClient` speaks only one revision, declares no capability and fails on the first invalid member. Servers in use
 * speak older revisions, ask questions, and some send invalid data. So the wire carries what this client really
 * supports, and `McpClient` gets what it accepts.
 */
import { Initialize, ToolsCall, ToolsList } from "@colloquy/protocol/mcp/CodexMcp"
import { readTools } from "./ServerTools.ts"

/** The revision that `McpClient` is configured with. */
export const offeredVersion = "2025-11-25"
/** For tools, cancellation and form elicitation these revisions are the same. */
const knownVersions = [offeredVersion, "2025-06-18", "2025-03-26", "2024-11-05"]

/** Questions in forms; this client opens no links. */
const capabilities = { elicitation: {} }

const isRecord = (u: unknown): u is Readonly<Record<string, unknown>> =>
  typeof u === "object" && u !== null && !Array.isArray(u)

/** Parameters as they are sent. */
export const outgoing = (
  method: string,
  params: Readonly<Record<string, unknown>> | undefined,
): Readonly<Record<string, unknown>> | undefined =>
  method === Initialize._tag ? { ...params, capabilities } : params

/** The revision that the server chose, from a result of `initialize`; undefined when it is unknown. */
export const negotiated = (result: unknown): string | undefined =>
  isRecord(result) && knownVersions.some((version) => version === result["protocolVersion"])
    ? String(result["protocolVersion"])
    : undefined

const initialized = (result: Readonly<Record<string, unknown>>): unknown => ({
  protocolVersion: negotiated(result) === undefined ? result["protocolVersion"] : offeredVersion,
  capabilities:
    isRecord(result["capabilities"]) && isRecord(result["capabilities"]["tools"])
      ? { tools: {} }
      : {},
  // The name that a server gives itself is not shown to anyone.
  serverInfo: { name: "server", version: "0" },
})

/** A result as `McpClient` receives it. */
export const incoming = (method: string, result: unknown): unknown => {
  if (!isRecord(result)) return result
  switch (method) {
    case Initialize._tag:
      return initialized(result)
    case ToolsList._tag:
      return {
        tools: readTools(result["tools"]),
        ...(typeof result["nextCursor"] === "string" ? { nextCursor: result["nextCursor"] } : {}),
      }
    case ToolsCall._tag:
      return "content" in result ? result : { ...result, content: [] }
    default:
      return result
  }
}
