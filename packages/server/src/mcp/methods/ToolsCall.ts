/** `tools/call`: runs a tool of the server or of the embedding program, as a task if one was requested or is useful. */
import { ErrorCode, type JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { CallToolResult, ToolsCall as ToolsCallMethod } from "@colloquy/protocol/mcp/CodexMcp"
import type { Params } from "@colloquy/protocol/Method"
import { nearest } from "@colloquy/protocol/Nearest"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { namesOf } from "../../features/Registry.ts"
import { rpcError } from "../../jsonrpc/PeerErrors.ts"
import type { Tasks } from "../../tasks/Tasks.ts"
import type { OfferedTools } from "../catalog/OfferedTools.ts"
import type { InputRequired, OtherResult, RequestContext } from "../RequestContext.ts"
import { make as makeTaskCalls } from "../tasks/TaskCalls.ts"

/** Largest number of names that an error lists: few enough for a person to read. */
const maxNamed = 100

/** Names of tools are shorter; a client may send one of some megabytes. */
const maxKeptLength = 128

const notCallable = (
  name: string,
  names: ReadonlyArray<string>,
  isDisabled: boolean,
): JsonRpcError => {
  const near = isDisabled ? undefined : nearest(name, names)
  const message = isDisabled
    ? `Tool '${name}' is not enabled: the setting \`mcp_tools\` does not name it`
    : `Unknown tool '${name}'${near === undefined ? "" : `, did you mean '${near}'?`}`
  return rpcError(ErrorCode.invalidParams, message, { tools: names })
}

/**
 * Creates the errors for names of tools that cannot be called. Keeps the names of the tools until these change, and the
 * last error, because clients repeat such a call.
 */
const makeNotCallable = ({ callable, isDisabled }: OfferedTools) => {
  let changes = -1
  let names: ReadonlyArray<string> = []
  let last:
    | { readonly name: string; readonly failure: Effect.Effect<never, JsonRpcError> }
    | undefined
  return (name: string): Effect.Effect<never, JsonRpcError> => {
    if (changes !== callable.changes) {
      changes = callable.changes
      names = namesOf(callable).slice(0, maxNamed)
      last = undefined
    }
    if (last?.name === name) return last.failure
    const failure = Effect.fail(notCallable(name, names, isDisabled(name)))
    if (name.length <= maxKeptLength) last = { name, failure }
    return failure
  }
}

/**
 * The handler of `tools/call` of one connection.
 *
 * @param taskAfter see `TaskCalls`
 */
export const toolsCall = Effect.fnUntraced(function* (
  offered: OfferedTools,
  tasks: Tasks["Service"],
  taskAfter?: Duration.Input,
) {
  const callOrTask = yield* makeTaskCalls(tasks, taskAfter)
  const failing = makeNotCallable(offered)
  return (
    params: Params<typeof ToolsCallMethod>,
    context: RequestContext,
  ): Effect.Effect<CallToolResult | OtherResult, JsonRpcError | InputRequired> => {
    const tool = offered.callable.get(params.name)
    if (tool === undefined) return failing(params.name)
    return callOrTask({ tool, args: params.arguments }, context, params.task)
  }
})
