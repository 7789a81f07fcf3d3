/** `tools/list`: lists the server's own tools, then those of the embedding program, one page per request. */
import type { ToolsList as ToolsListMethod } from "@colloquy/protocol/mcp/CodexMcp"
import type { Params, ResultOf } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import type { Registry } from "../../features/Registry.ts"
import type { Tool } from "../../features/Tool.ts"
import type { CoreHandler } from "../RequestContext.ts"
import { pageOf, type ConnectionCatalog, describe } from "../catalog/ConnectionCatalog.ts"
import { clientRequestsTasks } from "../tasks/TaskRequests.ts"

type Method = typeof ToolsListMethod

// Schemas are created at their first use, so they are read when the method is called, not when its handler is created.
const item = (tool: Tool, tasks: boolean): ResultOf<Method>["tools"][number] => {
  const { taskSupport } = tool
  return {
    ...describe(tool, [
      "name",
      "title",
      "description",
      "inputSchema",
      "outputSchema",
      "annotations",
      "icons",
    ]),
    ...(taskSupport === undefined || !tasks ? {} : { execution: { taskSupport } }),
  }
}

/** The handler of `tools/list` of one connection. */
export const toolsList = (
  { cursors, pageSize }: ConnectionCatalog,
  tools: Registry<Tool>,
): CoreHandler<Params<Method>, ResultOf<Method>> =>
  Effect.fnUntraced(function* ({ cursor }, context) {
    const [start = 0] = (yield* cursors.open("tools", cursor, context)) ?? []
    const { items, next } = pageOf(tools, Number(start), pageSize)
    const page = items.map((tool) => item(tool, clientRequestsTasks(context)))
    if (next === undefined) return { tools: page }
    return { tools: page, nextCursor: yield* cursors.seal("tools", [next], context) }
  })
