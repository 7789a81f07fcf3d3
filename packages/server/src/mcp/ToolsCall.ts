/** `tools/call`: finds the tool, the server's or the embedder's, and runs it, in a task where one is wanted. */
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { CallToolResult, ToolsCall as ToolsCallMethod } from "@colloquy/protocol/mcp/CodexMcp"
import type { Params } from "@colloquy/protocol/Method"
import { nearest } from "@colloquy/protocol/Nearest"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { namesOf, type Shelf } from "../features/Shelf.ts"
import type { Tool } from "../features/Tool.ts"
import type { Tasks } from "../tasks/Tasks.ts"
import type { InputRequired, OtherResult, RequestContext } from "./RequestContext.ts"
import { make as makeTaskCalls } from "./tasks/TaskCalls.ts"

/** Few enough to be read. */
const maxNamed = 100

const unknownTool = (name: string, tools: Shelf<Tool>) => {
  const names = namesOf(tools).slice(0, maxNamed)
  const near = nearest(name, names)
  return new JsonRpcError({
    code: ErrorCode.invalidParams,
    message: `Unknown tool '${name}'${near === undefined ? "" : `, did you mean '${near}'?`}`,
    data: { tools: names },
  })
}

/** Of one connection. */
export const toolsCall = Effect.fnUntraced(function* (
  tools: Shelf<Tool>,
  tasks: Tasks["Service"],
  taskAfter?: Duration.Input,
) {
  const callOrTask = yield* makeTaskCalls(tasks, taskAfter)
  return (
    params: Params<typeof ToolsCallMethod>,
    context: RequestContext,
  ): Effect.Effect<CallToolResult | OtherResult, JsonRpcError | InputRequired> => {
    const tool = tools.get(params.name)
    if (tool === undefined) return Effect.fail(unknownTool(params.name, tools))
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
})
