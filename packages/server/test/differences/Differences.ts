/** The list of all differences, by the table of packages/docs/compatibility.md that they are in. `Difference.ts` says how to add one. */
import { appEvents } from "./AppEvents.ts"
import { appRequests } from "./AppRequests.ts"
import { commands } from "./Commands.ts"
import type { Difference } from "./Difference.ts"
import { exec } from "./Exec.ts"
import { latestEvents } from "./LatestEvents.ts"
import { latestRequests } from "./LatestRequests.ts"
import { limits } from "./Limits.ts"
import { mcpCalls } from "./McpCalls.ts"
import { mcpHandshake } from "./McpHandshake.ts"
import { mcpQuestions } from "./McpQuestions.ts"
import { mcpTurns } from "./McpTurns.ts"
import { providers } from "./Providers.ts"
import { threadAnswers } from "./ThreadAnswers.ts"
import { threadHttp } from "./ThreadHttp.ts"
import { threadQuestions } from "./ThreadQuestions.ts"
import { threadTurns } from "./ThreadTurns.ts"
import { threadWire } from "./ThreadWire.ts"

export interface Table {
  readonly title: string
  /** Below the title: what the differences are about. */
  readonly about: string
  readonly differences: ReadonlyArray<Difference>
}

export const tables: ReadonlyArray<Table> = [
  {
    title: "MCP server",
    about:
      "Of `codex mcp` 0.29 and, where the last column says so, of `codex mcp-server` 0.153.4, the last version with an MCP server.",
    differences: [...mcpHandshake, ...mcpCalls, ...mcpQuestions, ...mcpTurns],
  },
  {
    title: "MCP server, 0.153.4 only",
    about: "These are in addition to those above.",
    differences: [...latestRequests, ...latestEvents],
  },
  {
    title: "App-server",
    about: "Of the requests that 0.29 serves beside MCP, and of `codex app-server` 0.45.",
    differences: [...appRequests, ...appEvents],
  },
  {
    title: "App-server v2",
    about: "Of `codex app-server` 0.169.",
    differences: [
      ...threadWire,
      ...threadAnswers,
      ...threadTurns,
      ...threadQuestions,
      ...threadHttp,
    ],
  },
  {
    title: "exec",
    about: "Of `codex exec --experimental-json` 0.169.",
    differences: exec,
  },
  {
    title: "Providers and configuration",
    about: "Of `codex mcp` 0.29 and, where the last column says so, of `codex mcp-server` 0.153.4.",
    differences: providers,
  },
  {
    title: "What commands may do",
    about: "[The page on security](security.md) has the details and names the test of each claim.",
    differences: commands,
  },
  {
    title: "Limits of one message",
    about: "Of `codex mcp` 0.29 and `codex mcp-server` 0.153.4.",
    differences: limits,
  },
]

export const differences: ReadonlyArray<Difference> = tables.flatMap((table) => table.differences)
