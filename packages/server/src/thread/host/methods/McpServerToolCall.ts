/**
 * `mcpServer/tool/call`: calls a tool of an MCP server of a thread for the client. The call is the client's own: it is not
 * part of a turn, and nobody is asked.
 */
import type { McpServerToolCall } from "@colloquy/protocol/thread/ToolServers"
import * as Effect from "effect/Effect"
import type { HostHandler } from "../HostCall.ts"
import { badValue, brokenResult, cannotUseServer } from "../HostErrors.ts"
import { ToolServerPort } from "../ports/ToolServerPort.ts"
import { settingsWithServer } from "../ServerSettings.ts"

const isMembers = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** A member of the request that has to be an object where it is given. */
const membersOf = (name: string, value: unknown) => {
  if (value === undefined || value === null) return Effect.succeed({})
  return isMembers(value)
    ? Effect.succeed({ [name === "_meta" ? "meta" : name]: value })
    : Effect.fail(badValue(`params.${name}: expected an object`))
}

/** Handler of the method. */
export const mcpServerToolCall: HostHandler<typeof McpServerToolCall> = Effect.fnUntraced(
  function* ({ _meta, arguments: args, server, threadId, tool }) {
    const settings = yield* settingsWithServer(threadId, server)
    const given = {
      ...(yield* membersOf("arguments", args)),
      ...(yield* membersOf("_meta", _meta)),
    }
    const port = yield* ToolServerPort
    const result = yield* Effect.mapError(
      port.call(settings, { server, tool, ...given }),
      cannotUseServer,
    )
    const { content, isError, structuredContent } = result
    if (!Array.isArray(content)) return yield* brokenResult(server)
    return {
      content,
      ...(structuredContent === undefined ? {} : { structuredContent }),
      ...(typeof isError === "boolean" ? { isError } : {}),
      ...(result["_meta"] === undefined ? {} : { _meta: result["_meta"] }),
    }
  },
)
