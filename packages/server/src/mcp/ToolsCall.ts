/** `tools/call`: finds the tool, decodes its arguments strictly, runs it. */
import type { ConversationManager } from "@colloquy/core/ConversationManager"
import type { SettingsResolver } from "@colloquy/core/ConversationSettings"
import { ErrorCode, JsonRpcError, type RequestId } from "@colloquy/protocol/JsonRpc"
import type { CallToolResult } from "@colloquy/protocol/mcp/CodexMcp"
import {
  Codex,
  CodexReply,
  codexTools,
  type ToolDefinition,
} from "@colloquy/protocol/mcp/CodexTools"
import { decodeArguments } from "@colloquy/protocol/mcp/ToolArguments"
import type { Pure } from "@colloquy/protocol/Method"
import { nearest } from "@colloquy/protocol/Nearest"
import * as Effect from "effect/Effect"
import type { Caller, PeerControl } from "../Peer.ts"
import { codex } from "./CodexTool.ts"
import { codexReply } from "./CodexReplyTool.ts"
import { badArguments, missingArguments } from "./ToolResults.ts"

type Services = ConversationManager | SettingsResolver

interface Call {
  readonly requestId: RequestId
  readonly peer: PeerControl
}

interface Runnable {
  /** The original's words for a call without arguments (§1.5, §1.6). */
  readonly missing: string
  readonly run: (args: unknown, call: Call) => Effect.Effect<CallToolResult, never, Services>
}

const runnable = <A extends Pure>(
  tool: ToolDefinition<A>,
  missing: string,
  run: (args: A["Type"], call: Call) => Effect.Effect<CallToolResult, never, Services>,
): readonly [string, Runnable] => [
  tool.name,
  {
    missing,
    run: (args, call) => {
      const decoded = decodeArguments(tool, args)
      return decoded._tag === "Failure"
        ? Effect.succeed(badArguments(decoded.failure))
        : run(decoded.success, call)
    },
  },
]

const tools = new Map([
  runnable(Codex, "the `prompt` field is required.", codex),
  runnable(CodexReply, "the `conversation_id` and `prompt` fields are required.", codexReply),
])

const unknownTool = (name: string) => {
  const names = codexTools.map((tool) => tool.name)
  const near = nearest(name, names)
  return new JsonRpcError({
    code: ErrorCode.invalidParams,
    message: `Unknown tool '${name}'${near === undefined ? "" : `, did you mean '${near}'?`}`,
    data: { tools: names },
  })
}

export const toolsCall = Effect.map(Effect.context<Services>(), (services) => {
  return (
    params: { readonly name: string; readonly arguments?: unknown },
    { requestId, peer }: Caller,
  ): Effect.Effect<CallToolResult, JsonRpcError> => {
    const tool = tools.get(params.name)
    if (tool === undefined) return Effect.fail(unknownTool(params.name))
    if (requestId === undefined) return Effect.die("a request without an id")
    return params.arguments === undefined || params.arguments === null
      ? Effect.succeed(missingArguments(params.name, tool.missing))
      : Effect.provideContext(tool.run(params.arguments, { requestId, peer }), services)
  }
})
