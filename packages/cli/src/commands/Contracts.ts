/** The contract of every dialect that this program speaks. */
import { AppServer } from "@colloquy/protocol/app/AppServer"
import { type Contract, contractOf } from "@colloquy/protocol/emit/Contract"
import { AnyEventMsg } from "@colloquy/protocol/EventMsg"
import { CodexMcp } from "@colloquy/protocol/mcp/CodexMcp"
import { codexTools } from "@colloquy/protocol/mcp/CodexTools"
import { conversationTools } from "@colloquy/protocol/mcp/ConversationTools"

/** The arguments of the tools are part of what a client relies on; `tools/call` itself does not read them. */
const toolArguments = () =>
  Object.fromEntries(
    [...codexTools, ...conversationTools].map((tool) => [
      `${tool.name.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase())}Arguments`,
      tool.arguments,
    ]),
  )

export const contracts = (): ReadonlyArray<Contract> => [
  contractOf(AppServer, { EventMsg: AnyEventMsg }),
  contractOf(CodexMcp, { EventMsg: AnyEventMsg, ...toolArguments() }),
]
