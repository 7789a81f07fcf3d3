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
import { type CallProgress, make as makeProgress } from "./CallProgress.ts"
import { codex } from "./CodexTool.ts"
import { codexReply } from "./CodexReplyTool.ts"
import { make as makeElicitations } from "./Elicitations.ts"
import type { Call } from "./conversation/Call.ts"
import type { ConnectionState } from "./conversation/ConnectionState.ts"
import { conversationRuns } from "./conversation/Tools.ts"
import type { InputRequired, OtherResult, RequestContext } from "./RequestContext.ts"
import type { Tasks } from "../tasks/Tasks.ts"
import { parkedTurnsOf } from "./rounds/ParkedTurns.ts"
import { resumeTurn } from "./rounds/ResumedTurn.ts"
import { make as makeRounds } from "./rounds/RoundElicitations.ts"
import { type Session, takesForms } from "./Session.ts"
import { make as makeTaskCalls } from "./tasks/TaskCalls.ts"
import { taskProgress } from "./tasks/TaskProgress.ts"
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

const definitions: ReadonlyMap<string, ToolDefinition> = new Map(
  [...codexTools, ...conversationTools].map((tool) => [tool.name, tool]),
)

const runOf = (name: string) => {
  const run = turnRuns.get(name) ?? conversationRuns.get(name)
  return run && { name, run, taskSupport: definitions.get(name)?.taskSupport }
}

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
  tasks: Tasks["Service"],
  catalog: Catalog,
) {
  const services = yield* Effect.context<Services>()
  const elicitations = makeElicitations()
  const inRounds = makeRounds(parkedTurnsOf(yield* ConversationManager))
  const progress = makeProgress()
  const callOrTask = yield* makeTaskCalls(tasks)
  return (
    params: Params<typeof ToolsCallMethod>,
    context: RequestContext,
  ): Effect.Effect<CallToolResult | OtherResult, JsonRpcError | InputRequired> => {
    const known = runOf(params.name)
    if (known === undefined) {
      const tool = catalog.tools.get(params.name)
      if (tool === undefined) return Effect.fail(unknownTool(params.name, catalog))
      const { name, prepare, taskSupport } = tool
      const args = params.arguments
      return callOrTask(
        {
          name,
          taskSupport,
          run: (given, prepared) => tool.invoke(args, given, prepared),
          ...(prepare === undefined ? {} : { prepare: (given) => prepare(args, given) }),
        },
        context,
        params.task,
      )
    }
    const token = params._meta?.progressToken ?? undefined
    const run = (given: RequestContext) => {
      const { afterAnswer, client, era, peer, requestId, rounds, task } = given
      connection.forget(requestId)
      const caller: Call = {
        requestId,
        peer,
        events: eventsOf(session, given),
        connection,
        afterAnswer,
        stateless: era === "stateless",
        ...(takesForms(client.capabilities)
          ? { elicitations: rounds === undefined ? elicitations : inRounds }
          : {}),
        ...(rounds?.resumed === undefined ? {} : { resumed: rounds.resumed }),
      }
      const start = (told?: CallProgress) => {
        const all = task === undefined ? told : taskProgress(task, told)
        return known.run(
          params.arguments,
          all === undefined ? caller : { ...caller, progress: all },
        )
      }
      return token === undefined ? start() : progress.during({ peer, token }, start)
    }
    const { name, taskSupport } = known
    return callOrTask(
      { name, taskSupport, run: (given) => Effect.provideContext(run(given), services) },
      context,
      params.task,
    )
  }
})
