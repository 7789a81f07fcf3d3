/** `@modelcontextprotocol/sdk` 1.x. */
import type * as ClientModule from "@modelcontextprotocol/sdk/client/index.js"
import type * as StdioModule from "@modelcontextprotocol/sdk/client/stdio.js"
import type * as TypesModule from "@modelcontextprotocol/sdk/types.js"
import type { ToolResult } from "../test/support/Server.ts"
import { type Connect, type Event, eventOf, load } from "./Driver.ts"

export const connect: Connect = async (server, answer) => {
  const package_ = "@modelcontextprotocol/sdk"
  const { Client } = load(`${package_}/client/index.js`) as typeof ClientModule
  const { StdioClientTransport } = load(`${package_}/client/stdio.js`) as typeof StdioModule
  const { ElicitRequestSchema } = load(`${package_}/types.js`) as typeof TypesModule
  const capabilities = answer === undefined ? {} : { elicitation: {} }
  const client = new Client({ name: "compat", version: "1" }, { capabilities })
  const events: Array<Event> = []
  const errors: Array<Error> = []
  Object.assign(client, { onerror: (error: Error) => errors.push(error) })
  client.fallbackNotificationHandler = ({ method, params }) => {
    if (method === "codex/event") events.push(eventOf(params))
    return Promise.resolve()
  }
  if (answer !== undefined) {
    client.setRequestHandler(ElicitRequestSchema, async ({ params }, { signal }) => ({
      ...(await answer(params.message, signal)),
    }))
  }
  await client.connect(new StdioClientTransport({ ...server, stderr: "ignore" }))
  return {
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args, options = {}) =>
      (await client.callTool(
        { name, arguments: args },
        undefined,
        options,
      )) as unknown as ToolResult,
    ping: () => client.ping(),
    close: () => client.close(),
    events,
    errors,
  }
}
