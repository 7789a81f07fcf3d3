/** `tools/call`: finds the tool, decodes its arguments strictly, runs it. */
import { ConversationManager } from "@colloquy/core/ConversationManager"
import type { SettingsResolver } from "@colloquy/core/ConversationSettings"
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { CallToolResult, ToolsCall as ToolsCallMethod } from "@colloquy/protocol/mcp/CodexMcp"
import {
  Codex,
  CodexReply,
  codexTools,
  type ToolDefinition,
} from "@colloquy/protocol/mcp/CodexTools"
import { conversationTools } from "@colloquy/protocol/mcp/ConversationTools"
import { decodeArguments } from "@colloquy/protocol/mcp/ToolArguments"
import type { Params, Pure } from "@colloquy/protocol/Method"
import { nearest } from "@colloquy/protocol/Nearest"
import * as Effect from "effect/Effect"
import type { Catalog } from "../features/Catalog.ts"
import { namesOf } from "../features/Shelf.ts"
import { make as makeProgress } from "./CallProgress.ts"
import { codex } from "./CodexTool.ts"
import { codexReply } from "./CodexReplyTool.ts"
import { make as makeElicitations } from "./Elicitations.ts"
import type { Call } from "./conversation/Call.ts"
import type { ConnectionState } from "./conversation/ConnectionState.ts"
import { conversationRuns } from "./conversation/Tools.ts"
import type { InputRequired, RequestContext } from "./RequestContext.ts"
import { parkedTurnsOf } from "./rounds/ParkedTurns.ts"
import { resumeTurn } from "./rounds/ResumedTurn.ts"
import { make as makeRounds } from "./rounds/RoundElicitations.ts"
import { type Session, takesForms } from "./Session.ts"
import { badArguments, missingArguments } from "./ToolResults.ts"
import type { ToolCaller } from "./TurnCall.ts"
import { eventsOf } from "./VendorEvents.ts"

type Services = ConversationManager | SettingsResolver

type Ran = Effect.Effect<CallToolResult, JsonRpcError | InputRequired, Services>

type Run = (args: unknown, call: Call) => Ran

/** `missing`: the original's words for a call without arguments (§1.5, §1.6). */
const runnable = <A extends Pure>(
  tool: ToolDefinition<A>,
  missing: string,
  run: (args: A["Type"], call: ToolCaller) => Ran,
): readonly [string, Run] => [
  tool.name,
  (args, call) => {
    if (call.resumed !== undefined) return resumeTurn(call.resumed, call)
    if (args === undefined || args === null) {
      return Effect.succeed(missingArguments(tool.name, missing))
    }
    const decoded = decodeArguments(tool, args)
    return decoded._tag === "Failure"
      ? Effect.succeed(badArguments(decoded.failure))
      : run(decoded.success, call)
  },
]

const turnRuns: ReadonlyMap<string, Run> = new Map([
  runnable(Codex, "the `prompt` field is required.", codex),
  runnable(CodexReply, "the `conversation_id` and `prompt` fields are required.", codexReply),
])

const runOf = (name: string): Run | undefined => turnRuns.get(name) ?? conversationRuns.get(name)

/** Few enough to be read. */
const maxNamed = 100

const unknownTool = (name: string, { tools }: Catalog) => {
  const own = [...codexTools, ...conversationTools].map((tool) => tool.name)
  const names = [...own, ...namesOf(tools)].slice(0, maxNamed)
  const near = nearest(name, names)
  return new JsonRpcError({
    code: ErrorCode.invalidParams,
    message: `Unknown tool '${name}'${near === undefined ? "" : `, did you mean '${near}'?`}`,
    data: { tools: names },
  })
}

/** Of one connection: its calls put a question to the client once. */
export const toolsCall = Effect.fnUntraced(function* (
  session: Session,
  connection: ConnectionState,
  catalog: Catalog,
) {
  const services = yield* Effect.context<Services>()
  const elicitations = makeElicitations()
  const inRounds = makeRounds(parkedTurnsOf(yield* ConversationManager))
  const progress = makeProgress()
  return (
    params: Params<typeof ToolsCallMethod>,
    given: RequestContext,
  ): Effect.Effect<CallToolResult, JsonRpcError | InputRequired> => {
    const { afterAnswer, client, peer, requestId, rounds } = given
    const run = runOf(params.name)
    if (run === undefined) {
      const tool = catalog.tools.get(params.name)
      return tool === undefined
        ? Effect.fail(unknownTool(params.name, catalog))
        : tool.invoke(params.arguments, given)
    }
    connection.forget(requestId)
    const token = params._meta?.progressToken ?? undefined
    return Effect.suspend(() => {
      const caller: Call = {
        requestId,
        peer,
        events: eventsOf(session, given),
        connection,
        afterAnswer,
        ...(takesForms(client.capabilities)
          ? { elicitations: rounds === undefined ? elicitations : inRounds }
          : {}),
        ...(rounds?.resumed === undefined ? {} : { resumed: rounds.resumed }),
      }
      if (token === undefined) return run(params.arguments, caller)
      return progress.during({ peer, token }, (told) =>
        run(params.arguments, { ...caller, progress: told }),
      )
    }).pipe(Effect.provideContext(services))
  }
})
