/** `prompts/list`: lists the prompts of the embedding program, then those of the prompt files, one page per request. */
import type { PromptsList as PromptsListMethod } from "@colloquy/protocol/mcp/Prompts"
import type { Params, ResultOf } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import type { Prompt } from "../../features/Prompt.ts"
import type { CoreHandler } from "../RequestContext.ts"
import { pageOf, type ConnectionCatalog, describe } from "../catalog/ConnectionCatalog.ts"

type Result = ResultOf<typeof PromptsListMethod>

const item = (prompt: Prompt): Result["prompts"][number] => ({
  ...describe(prompt, ["name", "title", "description", "icons"]),
  ...(prompt.arguments.length === 0
    ? {}
    : {
        arguments: prompt.arguments.map((one) =>
          describe(one, ["name", "title", "description", "required"]),
        ),
      }),
})

/** The handler of `prompts/list` of one connection. */
export const promptsList = ({
  catalog,
  cursors,
  pageSize,
  refreshPrompts,
}: ConnectionCatalog): CoreHandler<Params<typeof PromptsListMethod>, Result> =>
  Effect.fnUntraced(function* ({ cursor }, context) {
    const [start = 0] = (yield* cursors.open("prompts", cursor, context)) ?? []
    yield* refreshPrompts
    const { items, next } = pageOf(catalog.prompts, Number(start), pageSize)
    const prompts = items.map(item)
    if (next === undefined) return { prompts }
    return { prompts, nextCursor: yield* cursors.seal("prompts", [next], context) }
  })
