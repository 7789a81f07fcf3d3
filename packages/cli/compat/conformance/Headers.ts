/**
 * HTTP headers. The bridge checks hosts and sessions itself; headers that repeat the body are compared with it by the
 * server's own rules.
 */
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { JsonSchema } from "@colloquy/protocol/JsonSchema"
import { headerFault, type Headers } from "@colloquy/server/mcp/eras/Headers"
import type { IncomingMessage } from "node:http"
import { type Message, metaOf } from "./Child.ts"

export const versionKey = "io.modelcontextprotocol/protocolVersion"

const local = /^(https?:\/\/)?(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/

export const isLocal = ({ headers }: IncomingMessage): boolean =>
  local.test(headers.host ?? "") && (headers.origin === undefined || local.test(headers.origin))

export const headerOf = (request: IncomingMessage, name: string): string | undefined => {
  const value = request.headers[name]
  return typeof value === "string" ? value.trim() : undefined
}

/** Whether a request is stateless: it names its revision itself and belongs to no session. */
export const isStateless = (request: IncomingMessage, message: Message): boolean =>
  metaOf(message.params)?.[versionKey] !== undefined ||
  (headerOf(request, "mcp-protocol-version") ?? "") >= "2026" ||
  headerOf(request, "mcp-method") !== undefined

/** Argument schemas of the tools that the server has listed so far, by tool name. */
export type Schemas = ReadonlyMap<string, JsonSchema>

/** The error for a stateless request with headers that contradict its body; undefined if they agree. */
export const fault = (
  { headers }: IncomingMessage,
  { method, params }: { readonly method: string; readonly params?: Message["params"] },
  schemas: Schemas,
): JsonRpcError | undefined => {
  // Without a revision the body itself is invalid, and the server reports that.
  if (metaOf(params)?.[versionKey] === undefined) return undefined
  const values = Object.entries(headers).map(([name, value]) => [name, String(value)])
  const tool = params?.["name"]
  const schema = typeof tool === "string" ? schemas.get(tool) : undefined
  return headerFault(Object.fromEntries(values) as Headers, { method, params }, schema)
}
