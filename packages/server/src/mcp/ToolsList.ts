/** `tools/list`: the server's own tools, then the embedder's, a page at a time. */
import { codexTools } from "@colloquy/protocol/mcp/CodexTools"
import type { ToolsList as ToolsListMethod } from "@colloquy/protocol/mcp/CodexMcp"
import { conversationTools } from "@colloquy/protocol/mcp/ConversationTools"
import type { Params, ResultOf } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import { merged, shelf } from "../features/Shelf.ts"
import type { Tool } from "../features/Tool.ts"
import type { CoreHandler } from "./RequestContext.ts"
import { pageOf, type Served, told } from "./Served.ts"
import { asked } from "./tasks/TaskRequests.ts"

type Method = typeof ToolsListMethod

/** What a list tells of a tool, whoever made it. */
type Described = Omit<Tool, "problem" | "invoke">

const own = shelf<Described>()
for (const tool of [...codexTools, ...conversationTools]) own.put(tool.name, tool)

// Read at the call: the schemas are made when first asked for.
const item = (tool: Described, tasks: boolean): ResultOf<Method>["tools"][number] => {
  const { taskSupport } = tool
  return {
    ...told(tool, [
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

export const toolsList = ({
  catalog,
  cursors,
  pageSize,
}: Served): CoreHandler<Params<Method>, ResultOf<Method>> => {
  const all = merged<Described>([own, catalog.tools])
  return Effect.fnUntraced(function* ({ cursor }, context) {
    const [start = 0] = (yield* cursors.open("tools", cursor, context)) ?? []
    const { items, next } = pageOf(all, Number(start), pageSize)
    const tools = items.map((tool) => item(tool, asked(context)))
    if (next === undefined) return { tools }
    return { tools, nextCursor: yield* cursors.seal("tools", [next], context) }
  })
}
