/**
 * The server's own tools of one connection, as tools of the registry: `codex`, `codex-reply` and the conversation tools.
 * Reads the arguments and opens the progress of each call; what a tool does is in the file that is named after it.
 */
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { CallToolResult } from "@colloquy/protocol/mcp/CodexMcp"
import { Codex, CodexReply, type ToolDefinition } from "@colloquy/protocol/mcp/CodexTools"
import { serverTools } from "@colloquy/protocol/mcp/ServerTools"
import { argumentsDecoder } from "@colloquy/protocol/mcp/ToolArguments"
import type { Pure } from "@colloquy/protocol/Method"
import { once } from "@colloquy/protocol/Once"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { makeRegistry, type Registry } from "../../features/Registry.ts"
import type { Tool } from "../../features/Tool.ts"
import type { ConnectionState } from "../ConnectionState.ts"
import { conversationTools } from "../conversation/ConversationTools.ts"
import { continueCall } from "../elicitation/stateless/ContinuedCall.ts"
import type { InputRequired, RequestContext } from "../RequestContext.ts"
import { type CallProgress, make as makeProgress } from "./CallProgress.ts"
import { codex } from "./CodexTool.ts"
import { codexReply } from "./CodexReplyTool.ts"
import type { MakeInvoke, ToolEnvironment, ToolServices } from "./OwnTool.ts"
import { badArguments, missingArguments } from "./ToolResults.ts"

/** A tool that runs a turn. `missing`: what the original adds to its error for a call without arguments. */
const turnTool = <A extends Pure>(
  tool: ToolDefinition<A>,
  missing: string,
  run: (
    args: A["Type"],
    context: RequestContext,
    connection: ConnectionState,
    progress: CallProgress | undefined,
  ) => Effect.Effect<CallToolResult, JsonRpcError | InputRequired, ToolServices>,
): readonly [string, MakeInvoke] => [
  tool.name,
  ({ connection, progress: { open }, services }) => {
    const decoder = once(() => argumentsDecoder(tool))
    const call = (args: unknown, context: RequestContext, progress?: CallProgress) => {
      const resumed = context.continuation?.resumed
      if (resumed !== undefined) return continueCall(resumed, context, connection, progress)
      if (args === undefined || args === null) {
        return Effect.succeed(missingArguments(tool.name, missing))
      }
      const decoded = decoder()(args)
      return decoded._tag === "Failure"
        ? Effect.succeed(badArguments(decoded.failure))
        : run(decoded.success, context, connection, progress)
    }
    return (args, context) => {
      const opened = open(context)
      const result =
        opened === undefined
          ? call(args, context)
          : Effect.scoped(Effect.flatMap(opened, (progress) => call(args, context, progress)))
      return Effect.provideContext(result, services)
    }
  },
]

const turnTools: ReadonlyMap<string, MakeInvoke> = new Map([
  turnTool(Codex, "the `prompt` field is required.", codex),
  turnTool(CodexReply, "the `conversation_id` and `prompt` fields are required.", codexReply),
])

/**
 * The entry of a tool in the registry of one connection. An object of a class with nothing but references: a server has as
 * many of them as connections and tools, and most connections call few. The schemas are made when first read, and the code
 * of a call with the first call.
 */
class OwnTool implements Tool {
  readonly problem = undefined
  private readonly definition: ToolDefinition
  private readonly make: MakeInvoke
  private readonly environment: ToolEnvironment
  private made: Tool["invoke"] | undefined

  constructor(definition: ToolDefinition, make: MakeInvoke, environment: ToolEnvironment) {
    this.definition = definition
    this.make = make
    this.environment = environment
  }

  get name() {
    return this.definition.name
  }

  get title() {
    return this.definition.title
  }

  get description() {
    return this.definition.description
  }

  get annotations() {
    return this.definition.annotations
  }

  get taskSupport() {
    return this.definition.taskSupport
  }

  get inputSchema() {
    return this.definition.inputSchema
  }

  get outputSchema() {
    return this.definition.outputSchema
  }

  get invoke(): Tool["invoke"] {
    return (this.made ??= this.make(this.environment))
  }
}

/** All own tools, whether the server's settings offer them or not. A test checks that each definition has its code. */
export const ownTools = Effect.fnUntraced(function* (
  connection: ConnectionState,
): Effect.fn.Return<Registry<Tool>, never, ToolServices | Scope.Scope> {
  const services = yield* Effect.context<ToolServices>()
  const environment: ToolEnvironment = { connection, progress: yield* makeProgress, services }
  const tools = makeRegistry<Tool>()
  for (const definition of serverTools) {
    const { name } = definition
    const invoke = turnTools.get(name) ?? conversationTools.get(name)
    if (invoke !== undefined) tools.add(name, new OwnTool(definition, invoke, environment))
  }
  return tools
})
