/** When a call of a tool of a tool server needs the approval of a person. Pure. */
import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import { isReadOnly, type ServerTool } from "../mcp/ServerTools.ts"

type Settings = Pick<ConversationSettings, "approvalPolicy" | "mcpServers" | "toolServerApproval">

/**
 * True where the call has to be approved. What the configuration says of the server counts more than the setting of the
 * conversation; without either the call needs none. That a tool changes nothing is what its server says, unverified.
 */
export const needsApproval = (
  { approvalPolicy, mcpServers = {}, toolServerApproval = "approve" }: Settings,
  server: string,
  tool: Pick<ServerTool, "annotations">,
): boolean => {
  switch (mcpServers[server]?.approval ?? toolServerApproval) {
    case "approve":
      return false
    case "prompt":
      return true
    case "writes":
      return !isReadOnly(tool)
    case "auto":
      return approvalPolicy !== "never" && !isReadOnly(tool)
  }
}
