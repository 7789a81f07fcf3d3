/** The calls of tools of tool servers in one turn: which of them need an approval, and the question about one. */
import type { ToolApproval } from "@colloquy/core/approvals/Approval"
import type { ToolCall, ToolContext, ToolResult } from "@colloquy/core/ToolRuntime"
import * as Effect from "effect/Effect"
import { toolServersRefused } from "../policy/AllowedQuestions.ts"
import { needsApproval } from "../policy/ToolServerPolicy.ts"
import { requestApproval } from "../RequestApproval.ts"
import { parseArguments } from "./ToolOutput.ts"
import type { OpenServers } from "./ToolServers.ts"

type FunctionCall = Extract<ToolCall, { readonly type: "function_call" }>

/** The subject of a question, without the arguments. */
type Subject = Pick<ToolApproval, "server" | "tool" | "annotations">

/** The calls of one turn. */
export interface ServerCalls {
  /** True for a tool that changes nothing, as its server says, and that needs no approval. */
  readonly isReadOnly: (name: string) => boolean
  /** The question about a call; undefined if it needs none. */
  readonly questionOf: (
    call: FunctionCall,
  ) => (Subject & Pick<ToolApproval, "arguments">) | undefined
  /** Calls a tool once it is approved, if it has to be. Never fails. */
  readonly run: (call: FunctionCall) => Effect.Effect<ToolResult>
}

/** The calls of tools of these servers. */
export const make = (servers: OpenServers, context: ToolContext): ServerCalls => {
  const subjectOf = (name: string): Subject | undefined => {
    const found = servers.find(name)
    if (found === undefined || !needsApproval(context.settings, found.server, found.tool)) {
      return undefined
    }
    const { server, tool } = found
    const { annotations, name: toolName } = tool
    return { server, tool: toolName, ...(annotations === undefined ? {} : { annotations }) }
  }
  const isAsked = context.settings.approvalQuestions?.tool_servers !== false
  return {
    isReadOnly: (name) => servers.isReadOnly(name) && subjectOf(name) === undefined,
    questionOf: ({ arguments: text, name }) => {
      const subject = subjectOf(name)
      const args = parseArguments(text)
      return subject === undefined || args._tag === "Bad" || !isAsked
        ? undefined
        : { ...subject, arguments: args.value ?? null }
    },
    run: ({ arguments: text, call_id: callId, name }) => {
      const subject = subjectOf(name)
      const approve =
        subject === undefined
          ? {}
          : {
              approve: (args: unknown) =>
                isAsked
                  ? requestApproval(context, { _tag: "Tool", callId, ...subject, arguments: args })
                  : Effect.succeed(toolServersRefused),
            }
      const { emit } = context
      return Effect.map(
        servers.call({ callId, qualifiedName: name, arguments: text, emit, ...approve }),
        (output) => ({ output }),
      )
    },
  }
}
