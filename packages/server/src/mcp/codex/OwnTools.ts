/** The server's own tools as tools of the registry, of one connection: its calls put a question to the client once. */
import type { ConversationsView } from "../../ConversationsView.ts"
import type { SettingsResolver } from "@colloquy/core/ConversationSettings"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { CallToolResult, ProgressToken } from "@colloquy/protocol/mcp/CodexMcp"
import { Codex, CodexReply, type ToolDefinition } from "@colloquy/protocol/mcp/CodexTools"
import { serverTools } from "@colloquy/protocol/mcp/ServerTools"
import { decodeArguments } from "@colloquy/protocol/mcp/ToolArguments"
import type { Pure } from "@colloquy/protocol/Method"
import { memberOf } from "@colloquy/protocol/NullAsAbsent"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type Registry, makeRegistry } from "../../features/Registry.ts"
import type { Tool } from "../../features/Tool.ts"
import { type CallProgress, make as makeProgress } from "./CallProgress.ts"
import { codex } from "./CodexTool.ts"
import { codexReply } from "./CodexReplyTool.ts"
import { make as makeElicitations } from "../elicitation/Elicitations.ts"
import type { Call } from "../conversation/Call.ts"
import type { ConnectionState } from "../conversation/ConnectionState.ts"
import { conversationRuns } from "../conversation/Tools.ts"
import type { InputRequired, RequestContext } from "../RequestContext.ts"
import type { DetachedTurns } from "../elicitation/stateless/DetachedTurns.ts"
import { resumeTurn } from "../elicitation/stateless/ResumedTurn.ts"
import { make as makeRounds } from "../elicitation/stateless/RoundElicitations.ts"
import { type Session, takesForms } from "../Session.ts"
import { taskProgress } from "../tasks/TaskProgress.ts"
import { badArguments, missingArguments, type ThreadIdPlace } from "./ToolResults.ts"
import type { ToolCaller } from "./TurnCall.ts"
import { eventsOf } from "./VendorEvents.ts"

type Services = ConversationsView | SettingsResolver

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

/** Every tool has its run; a test compares. */
const runOf = (name: string): Run | undefined => turnRuns.get(name) ?? conversationRuns.get(name)

/** The schemas are made when first asked for. */
const toolOf = (definition: ToolDefinition, invoke: Tool["invoke"]): Tool => {
  const { annotations, description, name, taskSupport, title } = definition
  return {
    name,
    title,
    description,
    ...(annotations === undefined ? {} : { annotations }),
    ...(taskSupport === undefined ? {} : { taskSupport }),
    get inputSchema() {
      return definition.inputSchema
    },
    get outputSchema() {
      return definition.outputSchema
    },
    problem: undefined,
    invoke,
  }
}

const tokenOf = ({ meta }: RequestContext): ProgressToken | undefined =>
  memberOf(meta, "progressToken") as ProgressToken | undefined

export const ownTools = Effect.fnUntraced(function* (
  session: Session,
  connection: ConnectionState,
  threadId: ThreadIdPlace,
  turns: DetachedTurns,
): Effect.fn.Return<Registry<Tool>, never, Services | Scope.Scope> {
  const services = yield* Effect.context<Services>()
  const elicitations = yield* makeElicitations
  const inRounds = makeRounds(turns, connection)
  const progress = yield* makeProgress

  const call = (run: Run, args: unknown, context: RequestContext): Ran => {
    const { afterAnswer, client, era, peer, requestId, rounds, task } = context
    const caller: Call = {
      requestId,
      peer,
      events: eventsOf(session, context),
      connection,
      afterAnswer,
      threadId,
      ...(era === "stateless" ? { stateless: true } : { latest: connection.latest }),
      ...(takesForms(client.capabilities)
        ? { elicitations: rounds === undefined ? elicitations : inRounds }
        : {}),
      ...(rounds?.resumed === undefined ? {} : { resumed: rounds.resumed }),
    }
    const start = (told?: CallProgress) => {
      const all = task === undefined ? told : taskProgress(task, told)
      return run(args, all === undefined ? caller : { ...caller, progress: all })
    }
    const token = tokenOf(context)
    return token === undefined ? start() : progress.during({ peer, token }, start)
  }

  const tools = makeRegistry<Tool>()
  for (const definition of serverTools) {
    const run = runOf(definition.name)
    if (run === undefined) continue
    const invoke: Tool["invoke"] = (args, context) =>
      Effect.provideContext(call(run, args, context), services)
    tools.put(definition.name, toolOf(definition, invoke))
  }
  return tools
})
