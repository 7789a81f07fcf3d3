/** `tools/call`: finds the tool, decodes its arguments strictly, runs it. */
import type { ConversationManager } from "@colloquy/core/ConversationManager"
import type { SettingsResolver } from "@colloquy/core/ConversationSettings"
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { CallToolResult, ToolsCall as ToolsCallMethod } from "@colloquy/protocol/mcp/CodexMcp"
import {
  Codex,
  CodexReply,
  codexTools,
  type ToolDefinition,
} from "@colloquy/protocol/mcp/CodexTools"
import { decodeArguments } from "@colloquy/protocol/mcp/ToolArguments"
import type { Params, Pure } from "@colloquy/protocol/Method"
import { nearest } from "@colloquy/protocol/Nearest"
import * as Effect from "effect/Effect"
import type { Caller } from "../Peer.ts"
import { make as makeProgress } from "./CallProgress.ts"
import { codex } from "./CodexTool.ts"
import { codexReply } from "./CodexReplyTool.ts"
import { make as makeElicitations } from "./Elicitations.ts"
import type { Session } from "./Session.ts"
import { badArguments, missingArguments } from "./ToolResults.ts"
import type { ToolCaller } from "./TurnCall.ts"

type Services = ConversationManager | SettingsResolver

interface Runnable {
  /** The original's words for a call without arguments (§1.5, §1.6). */
  readonly missing: string
  readonly run: (args: unknown, call: ToolCaller) => Effect.Effect<CallToolResult, never, Services>
}

const runnable = <A extends Pure>(
  tool: ToolDefinition<A>,
  missing: string,
  run: (args: A["Type"], call: ToolCaller) => Effect.Effect<CallToolResult, never, Services>,
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

/** Of one connection: its calls put a question to the client once. */
export const toolsCall = Effect.fnUntraced(function* (session: Session) {
  const services = yield* Effect.context<Services>()
  const elicitations = makeElicitations()
  const progress = makeProgress()
  return (
    params: Params<typeof ToolsCallMethod>,
    { requestId, peer }: Caller,
  ): Effect.Effect<CallToolResult, JsonRpcError> => {
    const tool = tools.get(params.name)
    if (tool === undefined) return Effect.fail(unknownTool(params.name))
    if (requestId === undefined) return Effect.die("a request without an id")
    if (params.arguments === undefined || params.arguments === null) {
      return Effect.succeed(missingArguments(params.name, tool.missing))
    }
    const token = params._meta?.progressToken ?? undefined
    return Effect.gen(function* () {
      const events = yield* session.events
      const caller: ToolCaller = {
        requestId,
        peer,
        events,
        ...((yield* session.elicits) ? { elicitations } : {}),
      }
      if (token === undefined) return yield* tool.run(params.arguments, caller)
      return yield* progress.during({ peer, token }, (told) =>
        tool.run(params.arguments, { ...caller, progress: told }),
      )
    }).pipe(Effect.provideContext(services))
  }
})
