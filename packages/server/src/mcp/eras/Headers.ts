/**
 * Checks that the headers of an HTTP request match its body (2026-07-28). Proxies decide by the headers, so a request
 * with a different body is rejected. Pure: the transport passes the headers, with names in lower case.
 */
import { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { JsonSchema } from "@colloquy/protocol/JsonSchema"
import { ToolsCall } from "@colloquy/protocol/mcp/CodexMcp"
import { PromptsGet } from "@colloquy/protocol/mcp/Prompts"
import { ResourcesRead } from "@colloquy/protocol/mcp/Resources"
import { MetaKey, StatelessErrorCode } from "@colloquy/protocol/mcp/Revisions"
import { TasksCancel, TasksGet, TasksUpdate } from "@colloquy/protocol/mcp/Tasks"
import { memberOf } from "@colloquy/protocol/NullAsAbsent"
import * as Base64 from "effect/encoding/Base64"
import type { Members } from "../RequestContext.ts"
import { isMembers } from "./Capabilities.ts"

/** The headers as received, by name in lower case. */
export type Headers = Readonly<Record<string, string | undefined>>

/** The member of the params that the header `Mcp-Name` repeats, by method. */
const nameMembers: Readonly<Record<string, string>> = {
  [ToolsCall._tag]: "name",
  [PromptsGet._tag]: "name",
  [ResourcesRead._tag]: "uri",
  [TasksGet._tag]: "taskId",
  [TasksUpdate._tag]: "taskId",
  [TasksCancel._tag]: "taskId",
}

/** The schema annotation of an argument that a header repeats, and the prefix of that header in lower case. */
const annotation = "x-mcp-header"
const paramPrefix = "mcp-param-"

const sentinel = /^=\?base64\?(.*)\?=$/s

/** Requires the exact alphabet and padding: readers differ in what malformed base64 they accept. */
const strictBase64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** Decodes a header value. Undefined if it has the base64 sentinel and its content is not base64 of UTF-8 text. */
const read = (value: string): string | undefined => {
  const trimmed = value.replace(/^[ \t]+|[ \t]+$/g, "")
  const inner = sentinel.exec(trimmed)?.[1]
  if (inner === undefined) return trimmed
  if (!strictBase64.test(inner)) return undefined
  const bytes = Base64.decode(inner)
  if (bytes._tag === "Failure") return undefined
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes.success)
  } catch {
    return undefined
  }
}

const mismatch = (header: string, problem: string) =>
  new JsonRpcError({
    code: StatelessErrorCode.headerMismatch,
    message: `Header mismatch: ${header} ${problem}`,
  })

/**
 * The error of a header that is absent, unreadable or different from the body; undefined if it matches.
 *
 * @param matches whether the decoded value equals the value in the body
 */
const check = (
  headers: Headers,
  header: string,
  matches: (value: string) => boolean,
): JsonRpcError | undefined => {
  const given = headers[header.toLowerCase()]
  if (given === undefined) return mismatch(header, "is absent")
  const value = read(given)
  if (value === undefined) return mismatch(header, "is no base64 of UTF-8 text")
  return matches(value) ? undefined : mismatch(header, "differs from the body")
}

/** Compares a header value with an argument. Numbers are compared by value: `1` and `1.0` are equal. */
const says = (argument: unknown) => (value: string) => {
  if (typeof argument === "number") {
    return /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(value) && Number(value) === argument
  }
  return typeof argument === "boolean" ? value === String(argument) : value === argument
}

const checkArguments = (
  headers: Headers,
  args: Members,
  inputSchema: JsonSchema,
): JsonRpcError | undefined => {
  const properties = isMembers(inputSchema["properties"]) ? inputSchema["properties"] : {}
  for (const [name, property] of Object.entries(properties)) {
    const copied = isMembers(property) ? property[annotation] : undefined
    if (typeof copied !== "string") continue
    const argument = memberOf(args, name)
    const header = `Mcp-Param-${copied}`
    if (argument === undefined) {
      if (headers[`${paramPrefix}${copied.toLowerCase()}`] !== undefined) {
        return mismatch(header, "is there, and its argument is not")
      }
      continue
    }
    const fault = check(headers, header, says(argument))
    if (fault !== undefined) return fault
  }
  return undefined
}

/**
 * The error of the first header that is absent, unreadable or different from the request. Undefined if all match.
 *
 * @param inputSchema input schema of the called tool; undefined if no tool has that name
 */
export const headerFault = (
  headers: Headers,
  { method, params }: { readonly method: string; readonly params: unknown },
  inputSchema?: JsonSchema,
): JsonRpcError | undefined => {
  const body = isMembers(params) ? params : {}
  const meta = memberOf(body, "_meta")
  const nameMember = Object.hasOwn(nameMembers, method) ? nameMembers[method] : undefined
  return (
    check(
      headers,
      "MCP-Protocol-Version",
      (value) => value === memberOf(meta, MetaKey.protocolVersion),
    ) ??
    check(headers, "Mcp-Method", (value) => value === method) ??
    (nameMember === undefined
      ? undefined
      : check(headers, "Mcp-Name", (value) => value === body[nameMember])) ??
    (method === ToolsCall._tag && inputSchema !== undefined
      ? checkArguments(headers, isMembers(body["arguments"]) ? body["arguments"] : {}, inputSchema)
      : undefined)
  )
}
