/** The server's own tools, and which of them a server lists and accepts. */
import type { Pure } from "../Method.ts"
import { type CodexToolName, codexTools, type ToolDefinition } from "./CodexTools.ts"
import { type ConversationToolName, conversationTools } from "./ConversationTools.ts"

/** The names of the server's own tools. */
export type ServerToolName = CodexToolName | ConversationToolName

/** In the order of `tools/list`. */
export const serverTools: ReadonlyArray<ToolDefinition<Pure, ServerToolName>> = [
  ...codexTools,
  ...conversationTools,
]

/**
 * `default`: `codex` and `codex-reply` are listed, and the conversation tools can be called without being listed, as in
 * the original: every client sends the list with each of its model requests. `all`: every tool is listed. Names: these
 * tools are listed, and calls of the others are rejected.
 */
export type ToolChoice = "default" | "all" | ReadonlyArray<ServerToolName>

/** The names of the tools that are listed, or that can be called. */
export interface ChosenTools {
  readonly listed: ReadonlySet<string>
  readonly callable: ReadonlySet<string>
}

const namesOf = (tools: ReadonlyArray<ToolDefinition>) => new Set(tools.map(({ name }) => name))

/** The tools that a server lists and accepts for a setting. */
export const chosenTools = (choice: ToolChoice): ChosenTools => {
  const all = namesOf(serverTools)
  if (choice === "default") return { listed: namesOf(codexTools), callable: all }
  if (choice === "all") return { listed: all, callable: all }
  const named = new Set<string>(choice)
  return { listed: named, callable: named }
}
