/** Which tools a connection lists and which it runs: those of the embedder, and of the server's own the chosen ones. Pure. */
import type { ChosenTools } from "@colloquy/protocol/mcp/ServerTools"
import { merged, filtered, type Registry } from "../../features/Registry.ts"
import type { Tool } from "../../features/Tool.ts"

export interface OfferedTools {
  readonly listed: Registry<Tool>
  readonly callable: Registry<Tool>
  /** A tool of the server that the setting `mcp_tools` leaves out. */
  readonly isDisabled: (name: string) => boolean
}

export const offeredTools = (
  { callable, listed }: ChosenTools,
  own: Registry<Tool>,
  embedded: Registry<Tool>,
): OfferedTools => ({
  listed: merged([filtered(own, (name) => listed.has(name)), embedded]),
  callable: merged([filtered(own, (name) => callable.has(name)), embedded]),
  isDisabled: (name) => own.get(name) !== undefined && !callable.has(name),
})
