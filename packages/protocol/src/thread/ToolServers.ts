/** Methods of app-server v2 about MCP servers that the agent uses. */
import * as Schema from "effect/Schema"
import { request } from "../Method.ts"
import { maybe, Open, orNull, pageParams } from "./Values.ts"

/** One MCP server of the configuration. */
export const McpServerStatus = Schema.Struct({
  name: Schema.String,
  /** `starting`, `ready`, `failed` …; null where no thread has started it. */
  runtimeStatus: orNull(Schema.String),
  /** What the server says about itself. */
  serverInfo: orNull(Open),
  /** By name, as the server describes them. */
  tools: Schema.Record(Schema.String, Schema.Unknown),
  /** Why they could not be listed. */
  toolsError: orNull(Schema.String),
  resources: Schema.Array(Schema.Unknown),
  resourceTemplates: Schema.Array(Schema.Unknown),
  authStatus: Schema.Literals(["unsupported", "notLoggedIn", "bearerToken", "oAuth"]),
}).annotate({ identifier: "McpServerStatus" })
/** A decoded `McpServerStatus`. */
export type McpServerStatus = typeof McpServerStatus.Type

/** Lists the servers. */
export const McpServerStatusList = request("mcpServerStatus/list", {
  params: Schema.Struct({
    ...pageParams,
    /** Default `full`: resources are listed too. */
    detail: maybe(Schema.Literals(["full", "toolsAndAuthOnly"])),
    /** The thread whose servers are meant. Default: those of the configuration. */
    threadId: maybe(Schema.String),
  }),
  result: Schema.Struct({
    data: Schema.Array(McpServerStatus),
    nextCursor: orNull(Schema.String),
  }),
  since: "0.92",
  doc: "Lists the MCP servers that the agent uses, with their tools.",
})

/** Calls a tool of a server. */
export const McpServerToolCall = request("mcpServer/tool/call", {
  params: Schema.Struct({
    threadId: Schema.String,
    server: Schema.String,
    tool: Schema.String,
    arguments: maybe(Schema.Unknown),
    _meta: maybe(Schema.Unknown),
  }),
  result: Schema.Struct({
    content: Schema.Array(Schema.Unknown),
    structuredContent: Schema.optionalKey(Schema.Unknown),
    isError: Schema.optionalKey(Schema.Boolean),
    _meta: Schema.optionalKey(Schema.Unknown),
  }),
  since: "0.130",
  doc: "Calls a tool of an MCP server of a loaded thread, for the client: the model does not see it.",
})

/** Reads a resource of a server. */
export const McpServerResourceRead = request("mcpServer/resource/read", {
  params: Schema.Struct({
    threadId: maybe(Schema.String),
    server: Schema.String,
    uri: Schema.String,
    _meta: maybe(Open),
  }),
  result: Schema.Struct({ contents: Schema.Array(Schema.Unknown) }),
  since: "0.130",
  doc: "Reads a resource of an MCP server.",
})
