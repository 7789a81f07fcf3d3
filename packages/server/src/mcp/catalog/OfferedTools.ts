/** Selects the tools that a connection lists and runs: the chosen ones of the server, and all of the embedding program. Pure. */
import type { JsonSchema } from "@colloquy/protocol/JsonSchema"
import {
  type ChosenTools,
  chosenTools,
  serverTools,
  type ToolChoice,
} from "@colloquy/protocol/mcp/ServerTools"
import { merged, filtered, type Registry } from "../../features/Registry.ts"
import type { Tool } from "../../features/Tool.ts"

/** The tools of one connection. */
export interface OfferedTools {
  /** In `tools/list`. */
  readonly listed: Registry<Tool>
  /** In `tools/call`; includes tools that are not listed. */
  readonly callable: Registry<Tool>
  /** Whether it is a tool of the server that the setting `mcp_tools` excludes. */
  readonly isDisabled: (name: string) => boolean
}

/** Combines the server's own tools with those of the embedding program. */
export const offeredTools = (
  { callable, listed }: ChosenTools,
  own: Registry<Tool>,
  embedded: Registry<Tool>,
): OfferedTools => ({
  listed: merged([filtered(own, (name) => listed.has(name)), embedded]),
  callable: merged([filtered(own, (name) => callable.has(name)), embedded]),
  isDisabled: (name) => own.get(name) !== undefined && !callable.has(name),
})

/** The input schema of the tool that a call of this name runs, without the tools of a connection; undefined if there is none. */
export const inputSchemaOf = (
  choice: ToolChoice,
  embedded: Registry<Tool> | undefined,
  name: string,
): JsonSchema | undefined => {
  const own = serverTools.find((one) => one.name === name)
  const isCallable = own !== undefined && chosenTools(choice).callable.has(name)
  return isCallable ? own.inputSchema : embedded?.get(name)?.inputSchema
}
