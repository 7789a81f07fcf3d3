/** HTTP headers: hosts and sessions the bridge looks at by itself, what copies a body is held to it by our own rules. */
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

/** A request that stands alone, with its revision in itself, and no part of a session. */
export const isStateless = (request: IncomingMessage, message: Message): boolean =>
  metaOf(message.params)?.[versionKey] !== undefined ||
  (headerOf(request, "mcp-protocol-version") ?? "") >= "2026" ||
  headerOf(request, "mcp-method") !== undefined

/** Tools by name, with the schemas of their arguments, as far as the server has told of them. */
export type Schemas = ReadonlyMap<string, JsonSchema>

/** The error that answers a stateless request whose headers say something else than its body. */
export const fault = (
  { headers }: IncomingMessage,
  { method, params }: { readonly method: string; readonly params?: Message["params"] },
  schemas: Schemas,
): JsonRpcError | undefined => {
  // Without a revision in the body it is the body that is wrong, as the server will say.
  if (metaOf(params)?.[versionKey] === undefined) return undefined
  const values = Object.entries(headers).map(([name, value]) => [name, String(value)])
  const tool = params?.["name"]
  const schema = typeof tool === "string" ? schemas.get(tool) : undefined
  return headerFault(Object.fromEntries(values) as Headers, { method, params }, schema)
}
