/** The contracts of the dialects that this program serves. */
import { AppServer } from "@colloquy/protocol/app/AppServer"
import { type Contract, contractOf } from "@colloquy/protocol/emit/Contract"
import { AnyEventMsg } from "@colloquy/protocol/EventMsg"
import { CodexMcp } from "@colloquy/protocol/mcp/CodexMcp"
import { codexTools } from "@colloquy/protocol/mcp/CodexTools"
import { conversationTools } from "@colloquy/protocol/mcp/ConversationTools"
import { AppServerV2 } from "@colloquy/protocol/thread/AppServerV2"

/** The schemas of the tools' arguments. Clients rely on them, but the definition of `tools/call` does not contain them. */
const toolArguments = () =>
  Object.fromEntries(
    [...codexTools, ...conversationTools].map((tool) => [
      `${tool.name.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase())}Arguments`,
      tool.arguments,
    ]),
  )

/** One contract per dialect, with all types that its clients need. */
export const contracts = (): ReadonlyArray<Contract> => [
  contractOf(AppServer, { EventMsg: AnyEventMsg }),
  contractOf(AppServerV2),
  contractOf(CodexMcp, { EventMsg: AnyEventMsg, ...toolArguments() }),
]
