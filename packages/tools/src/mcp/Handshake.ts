/**
 * Our side of the handshake, and what a server's answers read as before `McpClient` decodes them. Pure.
 *
 * `McpClient` speaks one revision only, declares no capability and fails on the first member that is not as it should
 * be. Servers in use speak older revisions, ask questions, and some lie: the wire says what is true, and the client is
 * shown what it takes.
 */
import { Initialize, ToolsCall, ToolsList } from "@colloquy/protocol/mcp/CodexMcp"
import { readTools } from "./ServerTools.ts"

/** The revision `McpClient` is told to speak. */
export const offeredVersion = "2025-11-25"
/** Of what we use (tools, cancellation, form elicitation) all say the same. */
const knownVersions = [offeredVersion, "2025-06-18", "2025-03-26", "2024-11-05"]

/** Questions in forms; links we do not open. */
const capabilities = { elicitation: {} }

const isRecord = (u: unknown): u is Readonly<Record<string, unknown>> =>
  typeof u === "object" && u !== null && !Array.isArray(u)

/** Params as they go out. */
export const outgoing = (
  method: string,
  params: Readonly<Record<string, unknown>> | undefined,
): Readonly<Record<string, unknown>> | undefined =>
  method === Initialize._tag ? { ...params, capabilities } : params

/** The revision the server chose, of a result of `initialize`. */
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
  // Nobody is told who a server says it is.
  serverInfo: { name: "server", version: "0" },
})

/** A result as `McpClient` is shown it. */
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
