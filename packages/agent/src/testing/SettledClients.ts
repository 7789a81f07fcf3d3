/** Lets the calls of clients settle on the `TestClock`, like the chats of an agent under test. */
import type { AppClient } from "@colloquy/client/AppClient"
import type { Client } from "@colloquy/client/Client"
import type { McpClient } from "@colloquy/client/McpClient"
import { type Settle, settledStream } from "./Settle.ts"

/** The requests and notifications of a client. */
type Calls = Pick<Client<never>, "request" | "notify">

/** @param client of any dialect: its methods only matter to its caller */
const settledCalls = <C extends Calls>(client: C, settle: Settle): C => {
  const calls: Calls = {
    request: (...of) => settle(client.request(...of)),
    notify: (...of) => settle(client.notify(...of)),
  }
  return { ...client, ...calls }
}

/** The client, whose calls settle. */
export const settledMcp = (mcp: McpClient, settle: Settle): McpClient => ({
  server: mcp.server,
  client: settledCalls(mcp.client, settle),
  callTool: (...of) => settle(mcp.callTool(...of)),
  codex: (...of) => settle(mcp.codex(...of)),
  codexReply: (...of) => settle(mcp.codexReply(...of)),
  listTools: settle(mcp.listTools),
})

/** The client, whose calls and events settle. */
export const settledApp = (app: AppClient, settle: Settle): AppClient =>
  // Not spread: it is an instance of a class.
  Object.assign(Object.create(app) as AppClient, {
    client: settledCalls(app.client, settle),
    events: (...of: Parameters<AppClient["events"]>) => settledStream(app.events(...of), settle),
  })
