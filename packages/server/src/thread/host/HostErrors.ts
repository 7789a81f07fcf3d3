/** Errors of the methods that belong to no thread, and the only file that decides their codes and texts. Pure. */
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import { internal, invalid, invalidRequest } from "../../app/AppErrors.ts"
import type { ToolServerFailed } from "@colloquy/core/ToolRuntime"
import type { HostFailed } from "../../app/ports/HostPort.ts"
import type { ConfigFailed } from "./ports/ConfigPort.ts"
import type { FileFailed } from "./ports/FilePort.ts"

/** A value that the method does not accept. */
export const badValue = (message: string): JsonRpcError =>
  new JsonRpcError({ code: ErrorCode.invalidParams, message })

/** A method, or a part of it, that this program does not serve. */
export const notServed = (what: string): JsonRpcError =>
  new JsonRpcError({ code: ErrorCode.methodNotFound, message: `${what} is not supported yet` })

/** The path of a request is relative. */
export const relativePath = (field: string): JsonRpcError =>
  invalidRequest(
    `AbsolutePathBuf deserialized without a base path: params.${field}: expected an absolute path`,
  )

/** An action on files failed. */
export const cannotUseFile = ({ message }: FileFailed): JsonRpcError => internal(message)

/** A command did not run. */
export const cannotRun = ({ message, reason }: HostFailed): JsonRpcError =>
  internal(`failed to spawn command: ${message}`, reason === undefined ? undefined : { reason })

/** No MCP server has this name. */
export const unknownServer = (name: string): JsonRpcError =>
  internal(`unknown MCP server '${name}'`)

/** An MCP server could not be used, or has refused. */
export const cannotUseServer = ({ message }: ToolServerFailed): JsonRpcError => internal(message)

/** An MCP server has sent a result of another shape. */
export const brokenResult = (server: string): JsonRpcError =>
  internal(`the result of MCP server '${server}' breaks the protocol`)

/** No command of the connection has this id. */
export const noCommand = (id: string): JsonRpcError =>
  invalid(`no active command/exec for process id ${JSON.stringify(id)}`)

const writeCodes = {
  conflict: "configVersionConflict",
  invalid: "configValidationError",
  readonly: "configLayerReadonly",
} as const

/** The configuration could not be read or written. */
export const cannotUseConfig = ({ message, reason }: ConfigFailed): JsonRpcError =>
  reason === "unavailable"
    ? internal(message)
    : invalid(message, { config_write_error_code: writeCodes[reason] })

/** No session of searches of the connection has this id. */
export const noSearch = (id: string): JsonRpcError =>
  invalid(`fuzzy file search session not found: ${id}`)
